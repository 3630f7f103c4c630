// The real highwater program as a child of the test: its exit code, its two outputs, its one JSON object; and
// where its run directory is. Everything is in a directory of the test's own.
#pragma once

#include <sys/types.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"

namespace highwater::test {

using Json = nlohmann::json;

/// Asks `condition` again until it holds or `limit` has passed; the last answer.
bool eventually(Duration limit, const std::function<bool()>& condition);
std::string read_text(const std::string& file);
std::vector<std::string> lines_of(const std::string& text);

/// A directory of its own, removed at the end unless the test has failed.
class TempDir {
public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
    /// Writes the file and returns its path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& content) const;

private:
    std::string path_;
};

struct Ended {
    int exit_code = -1;  // -1: ended by a signal
    std::string out;
    std::string err;

    /// The one object on stdout; a test failure and null if it is not exactly one line with one object.
    [[nodiscard]] Json json() const;
};

/// A highwater that is running. Killed and reaped by the destructor if it still is.
class Program {
public:
    Program(const TempDir& dir, const std::vector<std::string>& arguments);
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    /// SIGINT.
    void interrupt() const;
    /// SIGKILL, and reaps it.
    void kill_now();
    /// A test failure, and SIGKILL, if it runs longer than `limit`.
    Ended wait(Duration limit = seconds(240));

private:
    bool reap(int options);

    std::string out_file_;
    std::string err_file_;
    pid_t pid_ = -1;
    int status_ = 0;
};

/// Runs `highwater ARGUMENTS…` to its end.
Ended highwater(const TempDir& dir, const std::vector<std::string>& arguments);
/// `highwater run SCENARIO --seed 7 --out DIR --json ARGUMENTS…`
Ended run_scenario(const TempDir& dir, const std::string& scenario,
                   const std::vector<std::string>& arguments = {});

/// Whether the array of strings (`violations`, `reasons`) holds the word.
bool contains(const Json& array, const std::string& word);

}  // namespace highwater::test
