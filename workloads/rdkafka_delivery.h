// What becomes of one record that was given to librdkafka. The library holds a ticket for it, so that a
// report that comes after its producer has stopped waiting finds its place.
#pragma once

#include <memory>

#include "base/ids.h"

namespace highwater::workloads {

/// Written and read by the one thread that serves reports.
struct Delivery {
    bool reported = false;
    /// rd_kafka_resp_err_t.
    int error = 0;
    Offset offset = kUnknownOffset;
    BrokerId broker = kNoBroker;
};
using DeliveryTicket = std::shared_ptr<Delivery>;

}  // namespace highwater::workloads
