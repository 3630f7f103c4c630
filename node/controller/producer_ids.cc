// AllocateProducerIds: blocks of producer ids for brokers, each handed out once in the cluster's life.
#include <limits>

#include "node/controller/state.h"

namespace highwater::node {

wire::AllocateProducerIdsResponse Controller::handle(Instant, std::int64_t wall_ms,
                                                     const wire::AllocateProducerIdsRequest& request) {
    State& state = *state_;
    wire::AllocateProducerIdsResponse response;
    const BrokerImage* sender = state.image.broker(request.broker_id);
    if (sender == nullptr || sender->epoch != request.broker_epoch) {
        response.error_code = wire::ErrorCode::StaleBrokerEpoch;
        return response;
    }
    const ProducerId first = state.image.next_producer_id();
    if (first > std::numeric_limits<ProducerId>::max() - kProducerIdBlock) {
        response.error_code = wire::ErrorCode::UnknownServerError;
        return response;
    }
    wire::ProducerIdsRecord record;
    record.broker_id = request.broker_id;
    record.broker_epoch = request.broker_epoch;
    record.next_producer_id = first + kProducerIdBlock;
    if (!state.commit(wall_ms, {record}, {})) {
        response.error_code = wire::ErrorCode::UnknownServerError;
        return response;
    }
    response.producer_id_start = first;
    response.producer_id_len = kProducerIdBlock;
    return response;
}

}  // namespace highwater::node
