// A cluster of processes with one topic, and what a test asks it for through raw frames.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tests/node_broker/process_cluster.h"

namespace highwater::test {

inline const std::string kTopic = "orders";

struct PartitionView {
    wire::ErrorCode error = wire::ErrorCode::UnknownServerError;
    BrokerId leader = kNoBroker;
    std::vector<BrokerId> isr;
};

class ClusterTest : public testing::Test {
protected:
    void start_with_topic(const std::vector<std::vector<BrokerId>>& assignment) {
        cluster().launch_all();
        ASSERT_TRUE(eventually(seconds(20), [&] { return brokers_known_to(1) == 3; })) << cluster().output(1);
        const auto created = cluster().client(1).call<wire::CreateTopicsResponse>(
            create_topic_request(kTopic, assignment, {{"min.insync.replicas", "2"}}), kCreateTopicsVersion);
        ASSERT_TRUE(created) << created.error().message;
        ASSERT_EQ(created->topics.at(0).error_code, wire::ErrorCode::None)
            << created->topics.at(0).error_message.value_or("");
        ASSERT_TRUE(eventually(seconds(20), [&] {
            const PartitionView view = view_of(1, 0);
            return view.leader == assignment[0][0] && view.isr.size() == assignment[0].size();
        }));
    }

    std::size_t brokers_known_to(BrokerId id) {
        const auto answer =
            cluster().client(id).call<wire::MetadataResponse>(metadata_request(kTopic), kMetadataVersion);
        return answer ? answer->brokers.size() : 0;
    }

    PartitionView view_of(BrokerId asked, std::int32_t partition) {
        const auto answer =
            cluster().client(asked).call<wire::MetadataResponse>(metadata_request(kTopic), kMetadataVersion);
        if (!answer || answer->topics.empty()) return {};
        for (const auto& found : answer->topics[0].partitions) {
            if (found.partition_index == partition)
                return {found.error_code, found.leader_id, found.isr_nodes};
        }
        return {};
    }

    /// The base offset if the broker leads and accepts now; nullopt if it refused before the append.
    std::optional<Offset> try_produce(BrokerId leader, const std::vector<std::uint64_t>& values) {
        const auto answer = cluster().client(leader).call<wire::ProduceResponse>(
            produce_request(kTopic, 0, -1, 5000, batch_of(values, 1)), kProduceVersion);
        if (!answer) return std::nullopt;
        const auto& partition = answer->responses.at(0).partition_responses.at(0);
        // Anything but a refusal before the append would append twice when asked again.
        if (partition.error_code == wire::ErrorCode::NotLeaderOrFollower ||
            partition.error_code == wire::ErrorCode::NotEnoughReplicas ||
            partition.error_code == wire::ErrorCode::UnknownTopicOrPartition) {
            return std::nullopt;
        }
        EXPECT_EQ(partition.error_code, wire::ErrorCode::None);
        return partition.base_offset;
    }

    /// The base offset of one batch, once `leader`, asked anew before each attempt, accepts it.
    Offset produce(const std::function<BrokerId()>& leader, const std::vector<std::uint64_t>& values) {
        std::optional<Offset> base;
        EXPECT_TRUE(eventually(seconds(20), [&] {
            const BrokerId now = leader();
            if (now != kNoBroker) base = try_produce(now, values);
            return base.has_value();
        })) << cluster().output(ProcessCluster::kController);
        return base.value_or(kUnknownOffset);
    }
    Offset produce(BrokerId leader, const std::vector<std::uint64_t>& values) {
        return produce([leader] { return leader; }, values);
    }

    std::vector<std::uint64_t> read_all(BrokerId from) {
        WireClient client = cluster().client(from);
        std::vector<std::uint64_t> values;
        while (true) {
            const auto answer = client.call<wire::FetchResponse>(
                fetch_request(kTopic, 0, static_cast<Offset>(values.size()), 0), kFetchVersion);
            if (!answer) return values;
            const auto& partition = answer->responses.at(0).partitions.at(0);
            if (partition.error_code != wire::ErrorCode::None) return values;
            const auto records = records_of(partition.records.value_or(Bytes{}));
            if (!records || records->empty()) return values;
            for (const wire::Record& record : *records) {
                if (record.offset == static_cast<Offset>(values.size())) values.push_back(value_of(record));
            }
        }
    }

    /// Made with default properties unless a test has made it.
    ProcessCluster& cluster() {
        if (!cluster_) cluster_.emplace();
        return *cluster_;
    }

    std::optional<ProcessCluster> cluster_;
};

}  // namespace highwater::test
