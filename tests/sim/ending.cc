#include "tests/sim/ending.h"

#include <fmt/format.h>

namespace highwater::sim {

std::string Ending::stuck() const {
    std::string text = "stuck: after heal the cluster did not settle:";
    for (const TopicPartition& id : cluster_.partitions()) {
        text += fmt::format(" {} leader {} isr of {};", id.to_string(), cluster_.leader(id),
                            cluster_.isr(id).size());
        for (const BrokerId broker : kBrokers) {
            const node::Partition* replica = cluster_.partition(broker, id);
            if (replica == nullptr)
                text += fmt::format(" {}: none", broker);
            else
                text += fmt::format(" {}: hw {} leo {} epoch {}", broker, replica->high_watermark(),
                                    replica->log().log_end_offset(), replica->leader_epoch());
        }
    }
    return text;
}

/// A session that was nearly over at heal may still cost a leader its office, and a waiting append with it: a
/// client asks the next leader. A refusal without an election is final.
wire::ErrorCode Ending::append(const TopicPartition& id) {
    constexpr std::uint64_t kAttempts = 3;
    wire::ErrorCode error = wire::ErrorCode::UnknownServerError;
    for (std::uint64_t attempt = 1; attempt <= kAttempts; ++attempt) {
        const LeaderEpoch epoch = cluster_.image()->partition(id)->leader_epoch;
        reader_.call<wire::ProduceResponse>(
            cluster_.leader(id),
            test::produce_request(id.topic, id.partition, -1, 5000, test::batch_of({attempt}, 0)),
            test::kProduceVersion, seconds(10), [&](const Result<wire::ProduceResponse>& answer) {
                if (answer) error = answer->responses.at(0).partition_responses.at(0).error_code;
            });
        cluster_.run_until(seconds(10), [&] { return !reader_.busy(); });
        const bool elected = cluster_.image()->partition(id)->leader_epoch != epoch;
        if (error != wire::ErrorCode::NotLeaderOrFollower || !elected) return error;
        if (!cluster_.run_until(kLiveness, [&] { return cluster_.settled(); })) return error;
    }
    return error;
}

std::string Ending::append_and_read(const TopicPartition& id) {
    if (const wire::ErrorCode error = append(id); error != wire::ErrorCode::None)
        return fmt::format("stuck: after heal an append failed: {}", wire::error_name(error));
    if (!cluster_.run_until(seconds(10), [&] { return cluster_.settled(); })) return stuck();
    const std::vector<LogRecord>& log = cluster_.invariants().replica(cluster_.leader(id), id).log;
    for (const BrokerId broker : kBrokers) {
        if (cluster_.invariants().replica(broker, id).log != log)
            return fmt::format("replica-divergence: broker {} has another log of {}", broker, id.to_string());
        if (read_all(broker, id) != log.size())
            return fmt::format("stuck: broker {} does not serve its whole log of {}", broker, id.to_string());
    }
    return {};
}

std::size_t Ending::read_all(BrokerId broker, const TopicPartition& id) {
    const std::vector<LogRecord>& log = cluster_.invariants().replica(broker, id).log;
    std::size_t read = 0;
    for (bool more = true; more && read < log.size();) {
        more = false;
        reader_.call<wire::FetchResponse>(
            broker, test::fetch_request(id.topic, id.partition, static_cast<Offset>(read), 0),
            test::kFetchVersion, seconds(5), [&](const Result<wire::FetchResponse>& answer) {
                if (!answer) return;
                const auto records =
                    test::records_of(answer->responses.at(0).partitions.at(0).records.value_or(Bytes{}));
                if (!records) return;
                for (const wire::Record& record : *records) {
                    if (record.offset != static_cast<Offset>(read)) continue;
                    if (read >= log.size() || test::value_of(record) != log[read].value) return;
                    ++read;
                    more = true;
                }
            });
        cluster_.run_until(seconds(10), [&] { return !reader_.busy(); });
    }
    return read;
}

}  // namespace highwater::sim
