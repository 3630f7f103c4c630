#include "tests/sim/client.h"

#include "base/assert.h"

namespace highwater::sim {

// -- one request at a time
// ----------------------------------------------------------------------------------------

void Client::request(BrokerId to, Bytes frame, Duration timeout, bool answered, Completion completion) {
    HW_ASSERT(!pending_, "client {} asks twice", id_);
    const std::uint64_t number = ++number_;
    pending_ = Pending{number, to, std::move(frame), answered, std::move(completion)};
    scheduler_.after(timeout, [this, alive = std::weak_ptr(alive_), number, to] {
        if (alive.expired() || !pending_ || pending_->number != number) return;
        drop(to);  // a late answer must not meet the next request
        finish(failure("timed out"));
    });
    Connection& connection = connections_[to];
    if (connection.open) return connected(connection.conn);
    connection.conn = next_conn_;
    next_conn_ += 2;
    network_.open(id_, connection.conn, to, "CLIENT");
}

void Client::connected(ConnId conn) {
    if (!pending_ || connections_[pending_->to].conn != conn) return;
    connections_[pending_->to].open = true;
    network_.send(id_, conn, pending_->frame);
    if (!pending_->answered) finish(Bytes{});
}

void Client::received(ConnId conn, Bytes frame) {
    if (pending_ && connections_[pending_->to].conn == conn) finish(std::move(frame));
}

void Client::disconnected(ConnId conn, const std::string& reason) {
    std::erase_if(connections_, [&](const auto& entry) {
        return entry.second.conn == conn && !(pending_ && pending_->to == entry.first);
    });
    if (!pending_ || connections_[pending_->to].conn != conn) return;
    connections_.erase(pending_->to);
    finish(failure(reason));
}

void Client::drop(BrokerId to) {
    network_.close(id_, connections_[to].conn, "client gave up");
    connections_.erase(to);
}

void Client::finish(const Result<Bytes>& result) {
    const Completion completion = std::move(pending_->completion);
    pending_.reset();
    completion(result);
}

// -- producer
// -----------------------------------------------------------------------------------------------------

Producer::Producer(Options options, Scheduler& scheduler, Network& network, Rng rng,
                   const Directory& directory, BlackBox& box)
    : options_(std::move(options)),
      client_(options_.id, scheduler, network),
      scheduler_(scheduler),
      rng_(rng),
      directory_(directory),
      box_(box) {}

void Producer::next() {
    if (stopped_) return;
    const std::int64_t interval = options_.interval.count();
    scheduler_.after(Duration{rng_.between(interval / 2, interval * 3 / 2)}, [this] { send(); });
}

Producer::Batch Producer::new_batch() {
    Batch batch;
    batch.partition = rng_.pick(options_.partitions);
    if (!options_.idempotent)
        batch.acks = static_cast<std::int16_t>(rng_.chance(60) ? -1 : rng_.between(0, 1));
    for (std::int64_t count = rng_.between(1, 3); count > 0; --count)
        batch.values.push_back(static_cast<std::uint64_t>(options_.id) << 32U | ++sent_);
    if (options_.idempotent) {
        std::int32_t& next_sequence = sequences_[batch.partition];
        batch.sequence = next_sequence;
        next_sequence += static_cast<std::int32_t>(batch.values.size());
    }
    return batch;
}

void Producer::send() {
    if (stopped_) return;
    const Batch batch = unknown_ ? *unknown_ : new_batch();
    if (options_.idempotent) unknown_ = batch;
    const BrokerId leader = directory_.leader(batch.partition);
    const BrokerId to =
        leader == kNoBroker || rng_.chance(15) ? static_cast<BrokerId>(rng_.between(1, 3)) : leader;
    wire::BatchSpec spec = test::batch_spec_of(batch.values, 0);
    if (options_.idempotent) {
        spec.producer_id = options_.id;
        spec.producer_epoch = epoch_;
        spec.base_sequence = batch.sequence;
    }
    const std::int32_t correlation = client_.next_correlation();
    const wire::ProduceRequest message = test::produce_request(
        batch.partition.topic, batch.partition.partition, batch.acks, 2000, wire::encode_batch(spec));
    client_.request(to, wire::encode_request(message, test::kProduceVersion, correlation, "producer"),
                    seconds(5), batch.acks != 0, [this, batch, correlation](const Result<Bytes>& frame) {
                        next();
                        if (frame && batch.acks != 0) answered(batch, frame, correlation);
                    });
}

void Producer::answered(const Batch& batch, const Result<Bytes>& frame, std::int32_t correlation) {
    const auto answer =
        wire::decode_response<wire::ProduceResponse>(*frame, test::kProduceVersion, correlation);
    HW_ASSERT(answer, "{}", answer.error().message);
    const auto& of = answer->responses.at(0).partition_responses.at(0);
    if (of.error_code == wire::ErrorCode::None) {
        unknown_.reset();
        if (batch.acks != -1) return;
        for (std::size_t i = 0; i < batch.values.size(); ++i)
            box_.acknowledged(batch.partition, of.base_offset + static_cast<Offset>(i), batch.values[i]);
    } else if (of.error_code == wire::ErrorCode::OutOfOrderSequenceNumber) {
        // Something before it was lost (unclean elections): as Kafka's client, a new epoch begins at 0.
        unknown_.reset();
        sequences_.clear();
        ++epoch_;
    }
}

// -- consumer
// -----------------------------------------------------------------------------------------------------

Consumer::Consumer(BrokerId id, Scheduler& scheduler, Network& network, Rng rng, TopicPartition partition,
                   Duration interval, BlackBox& box)
    : client_(id, scheduler, network),
      scheduler_(scheduler),
      rng_(rng),
      partition_(std::move(partition)),
      interval_(interval),
      box_(box) {}

void Consumer::next() {
    if (!stopped_) scheduler_.after(interval_, [this] { fetch(); });
}

void Consumer::fetch() {
    if (stopped_) return;
    client_.call<wire::FetchResponse>(
        static_cast<BrokerId>(rng_.between(1, 3)),
        test::fetch_request(partition_.topic, partition_.partition, position_, 100), test::kFetchVersion,
        seconds(2), [this](const Result<wire::FetchResponse>& answer) {
            next();
            if (!answer || answer->responses.empty()) return;
            const auto& of = answer->responses.at(0).partitions.at(0);
            // After a loss the log may end below the position: back to the beginning, as
            // auto.offset.reset=earliest.
            if (of.error_code == wire::ErrorCode::OffsetOutOfRange) position_ = 0;
            const auto records = test::records_of(of.records.value_or(Bytes{}));
            HW_ASSERT(records, "{}", records.error().message);
            for (const wire::Record& record : *records) {
                // A batch is served whole, also if the position is inside it.
                if (record.offset >= position_) box_.read(partition_, record.offset, test::value_of(record));
            }
            if (!records->empty()) position_ = std::max(position_, records->back().offset + 1);
        });
}

}  // namespace highwater::sim
