// A headless browser that opens one local page and tells what became of it.
#pragma once

#include <map>
#include <string>

#include "tests/e2e/program.h"

namespace highwater::test {

struct OpenedPage {
    /// The document after its scripts ran.
    std::string dom;
    /// data-… attributes of the root element.
    std::map<std::string, std::string> data;
    /// What the page wrote to the console, errors of its scripts included.
    std::string console;
};

/// Opens `file` with Chromium; `fragment` is "" or "#…". A missing or hanging browser is a test failure.
OpenedPage open_page(const TempDir& dir, const std::string& file, const std::string& fragment = "");
/// A picture of it, for a person.
bool picture_of_page(const TempDir& dir, const std::string& file, const std::string& picture);

}  // namespace highwater::test
