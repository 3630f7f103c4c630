// Where the properties put what they find: counts before sampling, violations, reasons, warnings, evidence.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/verdict.h"

namespace highwater::checker {

class Findings {
public:
    explicit Findings(std::size_t sample_limit) : sample_limit_(sample_limit) {}

    /// Counts one anomaly. True if a sample of it (with its sentence) is still wanted.
    bool count(std::string_view kind, bool allowed);
    void sample(Anomaly anomaly) { samples_.push_back(std::move(anomaly)); }
    /// Why the run proves less than it should; the first detail of each reason is kept.
    void reason(std::string_view name, std::string detail);
    void warning(std::string text) { warnings_.push_back(std::move(text)); }
    void unchecked(std::string name, std::string why) {
        unchecked_.push_back({std::move(name), std::move(why)});
    }
    void evidence(std::string_view name, std::int64_t by = 1);

    [[nodiscard]] bool violated() const { return !violations_.empty(); }
    [[nodiscard]] bool has_reason(std::string_view name) const;
    /// Everything but the verdict's kind.
    [[nodiscard]] Verdict take();

private:
    struct Kind {
        std::int64_t count = 0;
        std::int64_t violations = 0;
    };

    std::size_t sample_limit_;
    std::map<std::string, Kind, std::less<>> kinds_;
    std::set<std::string, std::less<>> violations_;
    std::vector<std::string> reasons_;
    std::vector<std::string> reason_details_;
    std::vector<std::string> warnings_;
    std::vector<Unchecked> unchecked_;
    std::map<std::string, std::int64_t, std::less<>> evidence_;
    std::vector<Anomaly> samples_;
};

}  // namespace highwater::checker
