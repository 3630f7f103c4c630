// DescribeLogDirs (35): how large the replicas of a broker are and how far behind.
// Field names, versions and tags are the protocol's; the codec walks fields().
#pragma once

#include "wire/codec.h"

namespace highwater::wire {

struct DescribeLogDirsRequest {
    static constexpr std::string_view kName = "DescribeLogDirsRequest";
    static constexpr Versions kVersions{1, 5};
    static constexpr std::int16_t kFlexibleSince = 2;
    static constexpr ApiKey kApiKey = ApiKey::DescribeLogDirs;
    struct DescribableLogDirTopic {
        std::string topic;
        std::vector<std::int32_t> partitions;
        friend bool operator==(const DescribableLogDirTopic&, const DescribableLogDirTopic&) = default;

        static constexpr auto fields() {
            return std::tuple{field("topic", &DescribableLogDirTopic::topic, since(0)),
                              field("partitions", &DescribableLogDirTopic::partitions, since(0))};
        }
    };
    std::optional<std::vector<DescribableLogDirTopic>> topics = std::vector<DescribableLogDirTopic>{};
    friend bool operator==(const DescribeLogDirsRequest&, const DescribeLogDirsRequest&) = default;

    static constexpr auto fields() {
        return std::tuple{field("topics", &DescribeLogDirsRequest::topics, since(0)).nullable(since(0))};
    }
};

struct DescribeLogDirsResponse {
    static constexpr std::string_view kName = "DescribeLogDirsResponse";
    static constexpr Versions kVersions{1, 5};
    static constexpr std::int16_t kFlexibleSince = 2;
    static constexpr ApiKey kApiKey = ApiKey::DescribeLogDirs;
    struct DescribeLogDirsResult {
        struct DescribeLogDirsTopic {
            struct DescribeLogDirsPartition {
                std::int32_t partition_index = 0;
                std::int64_t partition_size = 0;
                std::int64_t offset_lag = 0;
                bool is_future_key = false;
                friend bool operator==(const DescribeLogDirsPartition&,
                                       const DescribeLogDirsPartition&) = default;

                static constexpr auto fields() {
                    return std::tuple{
                        field("partitionIndex", &DescribeLogDirsPartition::partition_index, since(0)),
                        field("partitionSize", &DescribeLogDirsPartition::partition_size, since(0)),
                        field("offsetLag", &DescribeLogDirsPartition::offset_lag, since(0)),
                        field("isFutureKey", &DescribeLogDirsPartition::is_future_key, since(0))};
                }
            };
            std::string name;
            std::vector<DescribeLogDirsPartition> partitions;
            friend bool operator==(const DescribeLogDirsTopic&, const DescribeLogDirsTopic&) = default;

            static constexpr auto fields() {
                return std::tuple{field("name", &DescribeLogDirsTopic::name, since(0)),
                                  field("partitions", &DescribeLogDirsTopic::partitions, since(0))};
            }
        };
        ErrorCode error_code = ErrorCode::None;
        std::string log_dir;
        std::vector<DescribeLogDirsTopic> topics;
        std::int64_t total_bytes = -1;
        std::int64_t usable_bytes = -1;
        bool is_cordoned = false;
        friend bool operator==(const DescribeLogDirsResult&, const DescribeLogDirsResult&) = default;

        static constexpr auto fields() {
            return std::tuple{field("errorCode", &DescribeLogDirsResult::error_code, since(0)),
                              field("logDir", &DescribeLogDirsResult::log_dir, since(0)),
                              field("topics", &DescribeLogDirsResult::topics, since(0)),
                              field("totalBytes", &DescribeLogDirsResult::total_bytes, since(4)),
                              field("usableBytes", &DescribeLogDirsResult::usable_bytes, since(4)),
                              field("isCordoned", &DescribeLogDirsResult::is_cordoned, since(5))};
        }
    };
    std::int32_t throttle_time_ms = 0;
    ErrorCode error_code = ErrorCode::None;
    std::vector<DescribeLogDirsResult> results;
    friend bool operator==(const DescribeLogDirsResponse&, const DescribeLogDirsResponse&) = default;

    static constexpr auto fields() {
        return std::tuple{field("throttleTimeMs", &DescribeLogDirsResponse::throttle_time_ms, since(0)),
                          field("errorCode", &DescribeLogDirsResponse::error_code, since(3)),
                          field("results", &DescribeLogDirsResponse::results, since(0))};
    }
};
HW_WIRE_MESSAGE(DescribeLogDirsRequest)
HW_WIRE_MESSAGE(DescribeLogDirsResponse)

}  // namespace highwater::wire
