# HW_SANITIZE=address builds everything with ASan and UBSan, =thread with TSan.
set(HW_SANITIZE "" CACHE STRING "address | thread | empty")

if(HW_SANITIZE STREQUAL "address")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(HW_SANITIZE STREQUAL "thread")
  # -Wno-tsan: libstdc++ and asio use atomic_thread_fence, which TSan does not model.
  add_compile_options(-fsanitize=thread -Wno-tsan)
  add_link_options(-fsanitize=thread)
elseif(NOT HW_SANITIZE STREQUAL "")
  message(FATAL_ERROR "HW_SANITIZE is '${HW_SANITIZE}', not address, thread or empty")
endif()
