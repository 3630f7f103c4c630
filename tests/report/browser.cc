// Runs Debian's chromium once for each page.
#include "tests/report/browser.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <regex>

namespace highwater::test {
namespace {

/// Everything quoted here is a path that the test made.
int run_browser(const TempDir& dir, const std::string& flags, const std::string& url) {
    const std::string command = fmt::format(
        "timeout 90 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run "
        "--user-data-dir='{0}/browser' --virtual-time-budget=20000 --enable-logging=stderr {1} '{2}' "
        ">'{0}/dom.html' 2>'{0}/browser.log' </dev/null",
        dir.path(), flags, url);
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::map<std::string, std::string> data_of(const std::string& dom) {
    std::map<std::string, std::string> data;
    const std::size_t open = dom.find("<html");
    const std::size_t close = open == std::string::npos ? open : dom.find('>', open);
    if (close == std::string::npos) return data;
    const std::string tag = dom.substr(open, close - open);
    const std::regex attribute("data-([a-z]+)=\"([^\"]*)\"");
    for (std::sregex_iterator it(tag.begin(), tag.end(), attribute), end; it != end; ++it) {
        data[(*it)[1].str()] = (*it)[2].str();
    }
    return data;
}

}  // namespace

OpenedPage open_page(const TempDir& dir, const std::string& file, const std::string& fragment) {
    OpenedPage page;
    if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
        ADD_FAILURE() << "no chromium: the page cannot be tested (apt-get install chromium)";
        return page;
    }
    const int code = run_browser(dir, "--dump-dom", "file://" + file + fragment);
    EXPECT_EQ(code, 0) << read_text(dir.file("browser.log"));
    page.dom = read_text(dir.file("dom.html"));
    page.data = data_of(page.dom);
    for (const std::string& line : lines_of(read_text(dir.file("browser.log")))) {
        if (line.find("CONSOLE") != std::string::npos) page.console += line + "\n";
    }
    return page;
}

bool picture_of_page(const TempDir& dir, const std::string& file, const std::string& picture) {
    return run_browser(dir, fmt::format("--window-size=1400,1000 --screenshot='{}'", picture),
                       "file://" + file) == 0;
}

}  // namespace highwater::test
