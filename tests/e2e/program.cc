// Starts, awaits and reads the highwater program.
#include "tests/e2e/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace highwater::test {

bool eventually(Duration limit, const std::function<bool()>& condition) {
    const Instant deadline = monotonic_now() + limit;
    while (!condition()) {
        if (monotonic_now() > deadline) return condition();
        std::this_thread::sleep_for(milliseconds(10));
    }
    return true;
}

std::string read_text(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

TempDir::TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "highwater-e2e-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no temporary directory: " << pattern;
    path_ = pattern;
}

TempDir::~TempDir() {
    if (::testing::Test::HasFailure()) {
        std::fprintf(stderr, "kept: %s\n", path_.c_str());
        return;
    }
    std::error_code error;
    std::filesystem::remove_all(path_, error);
    if (error) std::fprintf(stderr, "not removed: %s: %s\n", path_.c_str(), error.message().c_str());
}

std::string TempDir::write(const std::string& name, const std::string& content) const {
    std::ofstream out(file(name), std::ios::binary);
    out << content;
    out.close();
    if (!out) ADD_FAILURE() << file(name) << " cannot be written";
    return file(name);
}

Json Ended::json() const {
    const std::vector<std::string> lines = lines_of(out);
    if (lines.size() != 1) {
        ADD_FAILURE() << "stdout is not one line:\n" << out << "\nstderr:\n" << err;
        return nullptr;
    }
    Json json = Json::parse(lines.front(), nullptr, false);
    if (!json.is_object()) {
        ADD_FAILURE() << "stdout is no JSON object:\n" << out;
        return nullptr;
    }
    return json;
}

Program::Program(const TempDir& dir, const std::vector<std::string>& arguments)
    : out_file_(dir.file("stdout.txt")), err_file_(dir.file("stderr.txt")) {
    std::vector<std::string> words{std::string(HW_BIN_DIR) + "/highwater"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_file_.c_str(), kFlags, 0644);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_file_.c_str(), kFlags, 0644);
    const int failed = ::posix_spawn(&pid_, argv.front(), &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        pid_ = -1;
        ADD_FAILURE() << words.front() << " cannot be started: " << std::strerror(failed);
    }
}

Program::~Program() { kill_now(); }

void Program::interrupt() const {
    if (pid_ != -1) ::kill(pid_, SIGINT);
}

bool Program::reap(int options) {
    if (pid_ == -1) return true;
    if (::waitpid(pid_, &status_, options) != pid_) return false;
    pid_ = -1;
    return true;
}

void Program::kill_now() {
    if (pid_ == -1) return;
    ::kill(pid_, SIGKILL);
    reap(0);
}

Ended Program::wait(Duration limit) {
    if (!eventually(limit, [this] { return reap(WNOHANG); })) {
        ADD_FAILURE() << "highwater did not end; so far it said:\n" << read_text(err_file_);
        kill_now();
    }
    Ended ended;
    ended.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
    ended.out = read_text(out_file_);
    ended.err = read_text(err_file_);
    return ended;
}

Ended highwater(const TempDir& dir, const std::vector<std::string>& arguments) {
    return Program(dir, arguments).wait();
}

Ended run_scenario(const TempDir& dir, const std::string& scenario,
                   const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"run", scenario, "--seed", "7", "--out", dir.file("runs"), "--json"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return highwater(dir, words);
}

bool contains(const Json& array, const std::string& word) {
    return array.is_array() && std::find(array.begin(), array.end(), Json(word)) != array.end();
}

}  // namespace highwater::test
