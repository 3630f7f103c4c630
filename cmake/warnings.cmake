# Warnings of our own code; third-party headers are SYSTEM and stay silent.
# The release preset turns -Wmaybe-uninitialized and -Wrestrict off: at -O2 g++ 12 reports alternatives that a moved variant does
# not hold, and overlaps in std::string::replace (GCC bug 105651).
option(HW_WERROR "Warnings are errors" ON)

add_library(hw_warnings INTERFACE)
target_compile_options(hw_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wduplicated-cond -Wlogical-op
  # g++ 12 reports designated initialisers that rely on member defaults; that is what they are for.
  -Wno-missing-field-initializers
  $<$<BOOL:${HW_WERROR}>:-Werror>)
