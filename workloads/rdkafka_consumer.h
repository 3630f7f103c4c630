// A librdkafka consumer of one partition: assigned by hand, without a group, from an offset on.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "workloads/rdkafka_handle.h"

namespace highwater::workloads {

class RdkafkaConsumer {
public:
    RdkafkaConsumer(const RdkafkaClientOptions& options, std::int32_t partition);
    ~RdkafkaConsumer();
    RdkafkaConsumer(const RdkafkaConsumer&) = delete;
    RdkafkaConsumer& operator=(const RdkafkaConsumer&) = delete;

    /// Records of one broker; empty at the end of the partition, or if nothing came in `max_wait`. No high
    /// watermark: the library knows only the last one it heard, and not with which records.
    PollReply poll(Offset from, Duration max_wait);
    /// The leader's high watermark.
    OffsetReply latest();

private:
    struct Fetched {
        ReadRecord record;
        BrokerId broker = kNoBroker;
    };
    bool start(Offset from);
    void stop();
    /// Takes in what the library has read ahead, waiting for it if there is nothing.
    void take_in(Duration max_wait);
    [[nodiscard]] PollReply hand_out();

    const RdkafkaClientOptions& options_;
    std::int32_t partition_;
    std::unique_ptr<RdkafkaHandle> handle_;
    /// Why there is no handle.
    std::string refused_;
    bool started_ = false;
    Instant started_at_;
    /// Where the next record is expected that was not handed out yet.
    Offset next_ = kUnknownOffset;
    std::deque<Fetched> fetched_;
    /// What came after the records in `fetched_`: then the library reads no further.
    std::optional<AttemptEnd> error_;
    /// The library's queue was emptied at or after this; and when what is in `fetched_` was asked for.
    Instant drained_;
    Instant asked_;
};

}  // namespace highwater::workloads
