# Warnings of our own code; third-party headers are SYSTEM and stay silent.
option(HW_WERROR "Warnings are errors" ON)

add_library(hw_warnings INTERFACE)
target_compile_options(hw_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wduplicated-cond -Wlogical-op
  # g++ 12 reports designated initialisers that rely on member defaults; that is what they are for.
  -Wno-missing-field-initializers
  $<$<BOOL:${HW_WERROR}>:-Werror>)
