// Text for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace highwater::results {

/// Fit for content and quoted attributes. Control characters that XML 1.0 does not know are left out.
std::string escaped(std::string_view text);

}  // namespace highwater::results
