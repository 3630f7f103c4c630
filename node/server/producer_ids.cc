// InitProducerId: identities for idempotent producers, from blocks that the controller hands out.
#include "node/server/broker_state.h"
#include "wire/messages/allocate_producer_ids.h"

namespace highwater::node {
namespace {

constexpr std::int16_t kAllocateVersion = 0;

void answer(Inbound& inbound, const BrokerState::WaitingInit& init, wire::ErrorCode error, ProducerId id) {
    wire::InitProducerIdResponse response;
    response.error_code = error;
    response.producer_id = id;
    response.producer_epoch = static_cast<std::int16_t>(error == wire::ErrorCode::None ? 0 : -1);
    inbound.answer(init.request, wire::encode_response(response, init.version, init.correlation_id));
}

}  // namespace

void BrokerState::handle(const RequestId& id, const wire::RequestHeader& header,
                         const wire::InitProducerIdRequest& request) {
    const WaitingInit init{id, header.api_version, header.correlation_id};
    if (request.transactional_id) {
        // There is no transaction coordinator here, nor anywhere in this cluster.
        return answer(inbound, init,
                      request.transactional_id->empty() ? wire::ErrorCode::InvalidRequest
                                                        : wire::ErrorCode::NotCoordinator,
                      -1);
    }
    if ((request.producer_id == -1) != (request.producer_epoch == -1))
        return answer(inbound, init, wire::ErrorCode::InvalidRequest, -1);
    // Also who names an id gets a new one: what an old one was used for is not known here.
    waiting_inits.push_back(init);
    give_producer_ids();
}

void BrokerState::give_producer_ids() {
    while (!waiting_inits.empty() && next_producer_id < producer_ids_end) {
        answer(inbound, waiting_inits.front(), wire::ErrorCode::None, next_producer_id++);
        waiting_inits.erase(waiting_inits.begin());
    }
    if (waiting_inits.empty() || producer_ids_asked) return;
    producer_ids_asked = true;
    wire::AllocateProducerIdsRequest request;
    request.broker_id = config.node_id;
    request.broker_epoch = broker_epoch;
    ask_controller<wire::AllocateProducerIdsResponse>(
        request, kAllocateVersion, [this](const Result<wire::AllocateProducerIdsResponse>& got) {
            producer_ids_asked = false;
            const bool given = got && got->error_code == wire::ErrorCode::None;
            if (given) {
                next_producer_id = got->producer_id_start;
                producer_ids_end = got->producer_id_start + got->producer_id_len;
                return give_producer_ids();
            }
            outbox.warn("AllocateProducerIds: " +
                        (got ? wire::error_name(got->error_code) : got.error().message));
            // Clients ask again after this one.
            for (const WaitingInit& init : std::exchange(waiting_inits, {}))
                answer(inbound, init, wire::ErrorCode::CoordinatorLoadInProgress, -1);
        });
}

}  // namespace highwater::node
