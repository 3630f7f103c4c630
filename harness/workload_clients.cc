#include "harness/workload_clients.h"

#include <algorithm>
#include <utility>

#include "harness/kcat_client.h"
#include "nemesis/address_plan.h"
#include "workloads/kafka_client.h"
#include "workloads/rdkafka_client.h"

namespace highwater::harness {

std::unique_ptr<workloads::Client> make_workload_client(const WorkloadSpec& spec,
                                                        WorkloadClientOptions options) {
    if (spec.client != ClientKind::Rdkafka) {
        auto raw = workloads::make_kafka_client(
            {options.client_id, options.topic, options.run_id, std::move(options.brokers)});
        if (spec.client == ClientKind::Raw) return raw;
        return make_kcat_client({std::move(options.client_id), std::move(options.topic),
                                 std::move(options.run_id), std::move(options.direct),
                                 std::move(options.directory), spec.request_timeout, spec.delivery_timeout,
                                 std::move(raw)});
    }
    workloads::RdkafkaClientOptions rdkafka;
    rdkafka.client_id = std::move(options.client_id);
    rdkafka.topic = std::move(options.topic);
    rdkafka.run_id = std::move(options.run_id);
    rdkafka.brokers = std::move(options.brokers);
    for (const auto& [id, address] : rdkafka.brokers) rdkafka.names[id] = nemesis::AddressPlan::name(id);
    rdkafka.idempotent = spec.idempotent;
    rdkafka.retries = spec.retries;
    rdkafka.request_timeout = spec.request_timeout;
    rdkafka.delivery_timeout = spec.delivery_timeout;
    return workloads::make_rdkafka_client(std::move(rdkafka));
}

std::int32_t hidden_retries_of(const WorkloadSpec& spec) {
    // Librdkafka looks for another leader and tries again without counting it, retries = 0 or not.
    constexpr std::int32_t kUncounted = 1;
    return spec.client == ClientKind::Raw ? 0 : kUncounted;
}

}  // namespace highwater::harness
