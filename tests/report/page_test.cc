// report.html in a real browser: no error, and the page counts what the run's files hold.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/report/browser.h"

namespace highwater::test {
namespace {

std::string short_scenario() { return std::string(HW_TEST_DATA) + "/short.toml"; }

/// A run of the short scenario, and its page.
struct Reported {
    TempDir dir;
    Json json;
    std::string run_dir;
    std::string page;
};

void run_short(Reported& run, const std::vector<std::string>& arguments, int exit_code) {
    const Ended ended = run_scenario(run.dir, short_scenario(), arguments);
    ASSERT_EQ(ended.exit_code, exit_code) << ended.err;
    run.json = ended.json();
    ASSERT_TRUE(run.json.is_object());
    run.run_dir = run.json["run_dir"];
    run.page = run.run_dir + "/report.html";
    ASSERT_TRUE(std::filesystem::is_regular_file(run.page));
}

/// Appends by outcome and reads, from the history's own lines.
std::map<std::string, std::string> counts_of(const std::string& run_dir) {
    std::map<std::string, int> counts{{"ok", 0}, {"fail", 0}, {"info", 0}, {"reads", 0}};
    for (const std::string& text : lines_of(read_text(run_dir + "/history.jsonl"))) {
        const Json line = Json::parse(text);
        const std::string op = line.value("op", "");
        if (op == "poll") ++counts["reads"];
        if (op == "produce") ++counts[line.value("status", "")];
    }
    std::map<std::string, std::string> texts;
    for (const auto& [name, count] : counts) texts[name] = std::to_string(count);
    return texts;
}

void expect_whole_page(const Reported& run, const std::string& verdict) {
    const OpenedPage opened = open_page(run.dir, run.page);
    EXPECT_EQ(opened.console, "");
    EXPECT_EQ(opened.data.count("error"), 0U) << opened.data.at("error");
    ASSERT_EQ(opened.data.count("ready"), 1U) << opened.dom.substr(0, 400);
    for (const auto& [name, count] : counts_of(run.run_dir)) EXPECT_EQ(opened.data.at(name), count) << name;
    EXPECT_EQ(opened.data.at("verdict"), verdict);
    EXPECT_EQ(opened.data.at("acked"), std::to_string(run.json["evidence"].value("acked", 0)));
    EXPECT_EQ(opened.data.at("faults"), "1");
    // Without scripts the same is there as text; the command to copy is exact.
    const std::string page = read_text(run.page);
    const std::size_t text = page.find("<noscript><pre>short · node · seed 7 · " + verdict);
    EXPECT_NE(text, std::string::npos);
    EXPECT_NE(opened.dom.find("<code id=\"reproduce\">highwater run " + short_scenario() + " --seed 7"),
              std::string::npos);
    // Nothing is loaded from anywhere.
    for (const char* outside : {"http://", "https://", " src=", "@import"}) {
        EXPECT_EQ(page.find(outside), std::string::npos) << outside;
    }
}

TEST(ReportPage, OfAValidRun) {
    Reported run;
    ASSERT_NO_FATAL_FAILURE(run_short(run, {}, 0));
    expect_whole_page(run, "valid");
    // A stretch of time shows fewer operations than the whole run.
    const OpenedPage all = open_page(run.dir, run.page);
    const OpenedPage part = open_page(run.dir, run.page, "#0.1-0.2");
    EXPECT_GT(std::stoi(all.data.at("shown")), std::stoi(part.data.at("shown")));
    EXPECT_GT(std::stoi(part.data.at("shown")), 0);
    // The title's markup is text.
    EXPECT_NE(all.dom.find("follower &lt;/script&gt;"), std::string::npos);
    // Written again from the files it is the same page.
    const std::string before = read_text(run.page);
    ASSERT_TRUE(std::filesystem::remove(run.page));
    const Ended again = highwater(run.dir, {"report", run.run_dir, "--json"});
    EXPECT_EQ(again.exit_code, 0) << again.err;
    EXPECT_EQ(again.json()["report"], run.page);
    EXPECT_TRUE(read_text(run.page) == before) << "the page of the files differs from the run's own";
}

TEST(ReportPage, OfAnInvalidRun) {
    Reported run;
    ASSERT_NO_FATAL_FAILURE(run_short(run, {"--bug", "Z06"}, 1));
    expect_whole_page(run, "invalid");
    const OpenedPage opened = open_page(run.dir, run.page);
    EXPECT_NE(opened.dom.find("--seed 7 --bug Z06</code>"), std::string::npos);
    // The first sentence is the heading.
    const Json verdict = Json::parse(read_text(run.run_dir + "/verdict.json"));
    const std::string sentence = verdict["samples"][0]["sentence"];
    EXPECT_NE(opened.dom.find("<h1 id=\"headline\">" + sentence + "</h1>"), std::string::npos) << sentence;
    const std::string picture = run.dir.file("page.png");
    EXPECT_TRUE(picture_of_page(run.dir, run.page, picture));
    EXPECT_GT(std::filesystem::file_size(picture), 20'000U) << "an empty picture";
}

/// A copy of the page whose last script does with the pointer what a person would.
std::string handled_page(const Reported& run) {
    std::string page = read_text(run.page);
    const std::string script = R"(<script>
async function handle() {
  const facts = document.documentElement.dataset;
  while (!facts.ready && !facts.error) await new Promise((resolve) => setTimeout(resolve, 20));
  const canvas = document.getElementById("cursor"), area = canvas.getBoundingClientRect();
  const send = (type, x, y, more) => canvas.dispatchEvent(new (type === "wheel" ? WheelEvent : PointerEvent)(type,
    { clientX: area.left + x, clientY: area.top + y, bubbles: true, cancelable: true, ...more }));
  facts.before = facts.shown;
  for (let i = 0; i < 4; ++i) send("wheel", 400, 100, { deltaY: -300 });
  facts.zoomed = facts.shown;
  canvas.setPointerCapture = () => {};
  send("pointerdown", 500, 100, { pointerId: 1 });
  send("pointermove", -20000, 100, { pointerId: 1 });
  facts.dragged = facts.shown;
  send("pointerup", 500, 100, { pointerId: 1 });
  canvas.dispatchEvent(new MouseEvent("dblclick"));
  facts.after = facts.shown;
  const told = new Set();
  for (let y = 5; y < area.height; y += 4) {
    for (let x = 0; x < area.width; x += 9) {
      send("pointermove", x, y, {});
      const tip = document.getElementById("tip");
      if (!tip.hidden) told.add(tip.textContent.split(" ").slice(0, 3).join(" ").replace(/[\d.]+/g, "#"));
    }
  }
  for (const button of document.querySelectorAll("button")) button.click();
  const list = document.createElement("pre");
  list.id = "told";
  list.textContent = [...told].join("\n");
  document.body.append(list);
  facts.handled = "yes";
}
handle();
</script>)";
    page.insert(page.rfind("</body>"), script);
    return run.dir.write("handled.html", page);
}

TEST(ReportPage, ZoomsMovesAndTellsWhatIsUnderThePointer) {
    Reported run;
    ASSERT_NO_FATAL_FAILURE(run_short(run, {"--bug", "Z06"}, 1));
    const OpenedPage opened = open_page(run.dir, handled_page(run));
    EXPECT_EQ(opened.console, "");
    EXPECT_EQ(opened.data.count("error"), 0U) << opened.data.at("error");
    ASSERT_EQ(opened.data.count("handled"), 1U);
    const auto number = [&](const char* name) { return std::stoi(opened.data.at(name)); };
    EXPECT_GT(number("before"), 0);
    EXPECT_LT(number("zoomed"), number("before")) << "the wheel zooms in";
    EXPECT_LT(number("dragged"), number("zoomed"))
        << "dragged to the end, where nothing is appended any more";
    EXPECT_EQ(number("after"), number("before")) << "a double click shows the whole run";
    const std::size_t list = opened.dom.find("<pre id=\"told\">");
    ASSERT_NE(list, std::string::npos);
    const std::string told = opened.dom.substr(list);
    for (const char* lane : {"nap: pause of", "broker # leads", "broker # is", "append of p", "read of #"}) {
        EXPECT_NE(told.find(lane), std::string::npos) << lane << " is not told:\n" << told;
    }
}

TEST(ReportPage, OfAnUnknownRun) {
    Reported run;
    ASSERT_NO_FATAL_FAILURE(run_short(run, {"--set", "workload.rate=0/s"}, 2));
    expect_whole_page(run, "unknown");
    EXPECT_NE(open_page(run.dir, run.page).dom.find("vacuous"), std::string::npos);
}

TEST(ReportPage, BrokenDataAreSeenByThisTest) {
    const TempDir dir;
    const std::string page = dir.write(
        "broken.html",
        "<!DOCTYPE html><html><head><link rel=icon href='data:,'></head><body><script>\n"
        "document.documentElement.dataset.ready = 'no'; nothingOfThatName();</script></body></html>");
    const OpenedPage opened = open_page(dir, page);
    EXPECT_EQ(opened.data.at("ready"), "no");
    EXPECT_NE(opened.console.find("nothingOfThatName"), std::string::npos) << "console errors are not seen";
}

TEST(Explain, TellsTheStoryOfARunOrThatThereIsNone) {
    const std::string lost = std::string(HW_SOURCE_DIR) + "/tests/harness/testdata/lost-run";
    const TempDir dir;
    const Ended told = highwater(dir, {"explain", lost});
    EXPECT_EQ(told.exit_code, 0) << told.err;
    EXPECT_TRUE(told.out.starts_with("invalid: offset 8 (p1-9) was acked by broker 1")) << told.out;
    EXPECT_NE(told.out.find("DOES NOT HAVE the record"), std::string::npos) << told.out;
    const Ended json = highwater(dir, {"explain", lost, "--value", "p1-9", "--json"});
    EXPECT_EQ(json.exit_code, 0) << json.err;
    EXPECT_EQ(json.json()["record"], "offset 8 (p1-9) of partition 0");
    EXPECT_GT(json.json()["story"].size(), 5U);
    for (const std::vector<std::string>& wrong :
         {std::vector<std::string>{"--offset", "9999"}, {"--value", "nine"}, {"--partition", "0"}}) {
        std::vector<std::string> words{"explain", lost};
        words.insert(words.end(), wrong.begin(), wrong.end());
        const Ended ended = highwater(dir, words);
        EXPECT_EQ(ended.exit_code, 64) << wrong.front();
        EXPECT_EQ(lines_of(ended.err).size(), 1U) << ended.err;
    }
    Reported valid;
    ASSERT_NO_FATAL_FAILURE(run_short(valid, {}, 0));
    const Ended nothing = highwater(valid.dir, {"explain", valid.run_dir});
    EXPECT_EQ(nothing.exit_code, 0) << nothing.err;
    EXPECT_NE(nothing.out.find("there is nothing to explain"), std::string::npos) << nothing.out;
}

TEST(ReportCommand, NoRunDirectoryIsOneClearLine) {
    const TempDir dir;
    for (const std::string& path : {dir.path(), dir.file("missing")}) {
        const Ended ended = highwater(dir, {"report", path, "--json"});
        EXPECT_EQ(ended.exit_code, 64);
        EXPECT_EQ(lines_of(ended.err).size(), 1U) << ended.err;
        EXPECT_NE(ended.err.find(path), std::string::npos) << ended.err;
    }
    // A history alone was never judged.
    ASSERT_TRUE(std::filesystem::create_directory(dir.file("run")));
    std::filesystem::copy_file(std::string(HW_SOURCE_DIR) + "/tests/checker/testdata/cases/R12.jsonl",
                               dir.file("run/history.jsonl"));
    const Ended ended = highwater(dir, {"report", dir.file("run")});
    EXPECT_EQ(ended.exit_code, 64);
    EXPECT_NE(ended.err.find("verdict.json"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace highwater::test
