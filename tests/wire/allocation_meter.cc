#include "allocation_meter.h"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

std::size_t largest = 0;

}  // namespace

// The test binary has one thread; a plain number is enough.
void* operator new(std::size_t size) {
    largest = std::max(largest, size);
    // NOLINTNEXTLINE(cppcoreguidelines-no-malloc): this is what operator new stands on
    if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
    throw std::bad_alloc();
}
// NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
void operator delete(void* memory) noexcept { std::free(memory); }
// NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace highwater::test {

void reset_largest_allocation() { largest = 0; }
std::size_t largest_allocation() { return largest; }

}  // namespace highwater::test
