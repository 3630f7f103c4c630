#include "harness/kcat_client.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/child.h"
#include "workloads/broker_client.h"
#include "workloads/rdkafka_errors.h"

namespace highwater::harness {
namespace {

namespace fs = std::filesystem;

using workloads::LibraryError;
using workloads::ProduceReply;

constexpr std::string_view kDelivered = "% Message delivered to partition ";
constexpr std::string_view kFailed = "% Delivery failed for message: ";
/// To start, to look at its timeouts once a second, and to end.
constexpr Duration kGrace = seconds(5);
constexpr Duration kKillTime = seconds(5);

std::string in_ms(Duration duration) { return std::to_string(duration / milliseconds(1)); }

ProduceReply ended(workloads::AttemptEnd end) {
    ProduceReply reply;
    reply.end = std::move(end);
    return reply;
}

/// The number between `before` and the first `after` behind it.
std::optional<std::int64_t> number_in(std::string_view line, std::string_view before,
                                      std::string_view after) {
    const std::size_t at = line.find(before);
    if (at == std::string_view::npos) return std::nullopt;
    line.remove_prefix(at + before.size());
    const std::string_view digits = line.substr(0, line.find(after));
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error != std::errc{} || end != digits.end()) return std::nullopt;
    return number;
}

ProduceReply delivered(std::string_view line, Offset offset, std::int16_t acks) {
    ProduceReply reply = ended(workloads::delivery_end(0, offset, acks));
    if (offset >= 0) reply.offset = offset;
    if (const auto broker = number_in(line, " on broker ", "\n"))
        reply.broker = static_cast<BrokerId>(*broker);
    return reply;
}

std::string read_text(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

class KcatClient final : public workloads::Client {
public:
    explicit KcatClient(KcatClientOptions options)
        : options_(std::move(options)),
          record_(fs::path(options_.directory) / (options_.client_id + ".record")),
          output_(fs::path(options_.directory) / (options_.client_id + ".out")) {}

    ProduceReply produce(const workloads::ProduceCall& call) override {
        if (const Status written = write_record(call); !written)
            return ended(LibraryError{written.error().message, true});
        auto kcat = Child::launch(command(call));
        if (!kcat) return ended(LibraryError{kcat.error().message, true});
        if (!kcat->wait_exit(monotonic_now() + options_.delivery_timeout + kGrace))
            kcat->kill(monotonic_now() + kKillTime);
        // Its exit status is not about the record.
        auto reply = kcat_report(read_text(output_), call.acks);
        return reply ? std::move(*reply) : ended(LibraryError{"no delivery report", false});
    }
    [[nodiscard]] bool hides_attempts() const override { return true; }
    workloads::PollReply poll(std::int32_t partition, Offset from, Duration max_wait,
                              workloads::ReadFrom whom) override {
        return options_.reader->poll(partition, from, max_wait, whom);
    }
    workloads::OffsetReply latest(std::int32_t partition) override {
        return options_.reader->latest(partition);
    }
    /// Each append is another producer.
    workloads::ProducerIdReply init_producer_id() override { return {}; }
    void refresh() override { options_.reader->refresh(); }

private:
    [[nodiscard]] Status write_record(const workloads::ProduceCall& call) const {
        std::error_code error;
        fs::create_directories(options_.directory, error);
        fs::remove(output_, error);
        const Bytes value = workloads::encode_value(options_.run_id, call.value, call.size);
        std::ofstream out(record_, std::ios::binary | std::ios::trunc);
        for (const auto byte : value) out.put(static_cast<char>(byte));
        out.close();
        if (!out) return failure(fmt::format("{} cannot be written", record_.string()));
        return {};
    }

    [[nodiscard]] ChildOptions command(const workloads::ProduceCall& call) const {
        std::string brokers;
        for (const auto& [id, address] : options_.brokers)
            brokers += fmt::format("{}{}:{}", brokers.empty() ? "" : ",", address.host, address.port);
        ChildOptions child;
        child.program = "kcat";
        // -E: that all brokers are down is an error of the moment, not the record's.
        child.args = {
            "-P", "-E", "-vv", "-b", brokers, "-t", options_.topic, "-p", std::to_string(call.partition)};
        const std::vector<std::pair<std::string, std::string>> settings{
            {"client.id", options_.client_id},
            {"acks", std::to_string(call.acks)},
            {"retries", "0"},
            {"request.timeout.ms", in_ms(options_.request_timeout)},
            {"message.timeout.ms", in_ms(options_.delivery_timeout)},
            {"log_level", "3"}};
        for (const auto& [key, value] : settings) {
            child.args.emplace_back("-X");
            child.args.push_back(fmt::format("{}={}", key, value));
        }
        child.args.push_back(record_.string());
        // No settings of whoever runs this.
        child.env = {{"KCAT_CONFIG", "/dev/null"}};
        child.output_file = output_.string();
        return child;
    }

    const KcatClientOptions options_;
    const fs::path record_;
    const fs::path output_;
};

}  // namespace

Status ask_for_kcat(const std::string& file) {
    ChildOptions options;
    options.program = "kcat";
    options.args = {"-V"};
    options.output_file = file;
    auto kcat = Child::launch(options);
    if (!kcat) return failure("client kcat", kcat.error());
    const auto ended = kcat->wait_exit(monotonic_now() + kGrace);
    if (!ended) return failure("client kcat: `kcat -V` does not end");
    if (ended->code != 0) return failure("client kcat: `kcat -V` ended with " + ended->to_string());
    return {};
}

std::optional<ProduceReply> kcat_report(const std::string& output, std::int16_t acks) {
    std::istringstream lines(output);
    std::string line;
    while (std::getline(lines, line)) {
        if (lines.eof()) return std::nullopt;  // without its end: cut off
        if (line.starts_with(kFailed))
            return ended(workloads::described_end(line.substr(kFailed.size()), acks));
        if (!line.starts_with(kDelivered)) continue;
        if (const auto offset = number_in(line, " (offset ", ")")) return delivered(line, *offset, acks);
    }
    return std::nullopt;
}

std::unique_ptr<workloads::Client> make_kcat_client(KcatClientOptions options) {
    return std::make_unique<KcatClient>(std::move(options));
}

}  // namespace highwater::harness
