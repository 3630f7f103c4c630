#include "checker/properties.h"

namespace highwater::checker {

void check_append_order(const Context&, Findings&) {}

}  // namespace highwater::checker
