#include "harness/kafka/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "wire/error_code.h"

namespace highwater::harness {
namespace {

constexpr Duration kLook = milliseconds(4);
/// A log that stands still is told of again after this time: that it ended there in between is evidence.
constexpr Duration kToldAgain = milliseconds(200);
constexpr const char* kMetadataDirectory = "/__cluster_metadata-0";

std::vector<std::string> metadata_directories(const std::vector<WatchedProcess>& controllers) {
    std::vector<std::string> directories;
    for (const WatchedProcess& controller : controllers)
        directories.push_back(controller.data_dir + kMetadataDirectory);
    return directories;
}

/// "[[0,0],[2,17]]": epoch and first offset.
std::string table_text(const std::vector<OffsetAndEpoch>& table) {
    std::string text;
    for (const OffsetAndEpoch& entry : table)
        text += fmt::format("{}[{},{}]", text.empty() ? "" : ",", entry.epoch, entry.offset);
    return "[" + text + "]";
}

/// "[3,24,2199000000]": who, its log's end, nanoseconds.
std::string lagging_text(const std::vector<TraceReplica>& lagging) {
    std::string text;
    for (const TraceReplica& replica : lagging)
        text += fmt::format("{}[{},{},{}]", text.empty() ? "" : ",", replica.id, replica.log_end_offset,
                            replica.behind.count());
    return text;
}

}  // namespace

KafkaTrace::KafkaTrace(KafkaTraceOptions options)
    : options_(std::move(options)),
      metadata_(metadata_directories(options_.controllers)),
      decisions_(options_.topic) {
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    epoch_ns_ = monotonic_now().ns - std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count();
    for (const WatchedProcess& process : options_.brokers) {
        Broker broker;
        broker.process = process;
        for (std::int32_t partition = 0; partition < options_.partitions; ++partition) {
            const std::string directory =
                fmt::format("{}/{}-{}", process.data_dir, options_.topic, partition);
            broker.replicas.push_back({partition, SegmentTail(directory, false), std::nullopt, {}});
        }
        brokers_.push_back(std::move(broker));
    }
    thread_ = std::thread([this] { watch(); });
}

KafkaTrace::~KafkaTrace() { stop(); }

void KafkaTrace::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (!thread_.joinable()) return;
    thread_.join();
    look(true);
    files_.clear();
}

Instant KafkaTrace::at_wall_ms(std::int64_t ms) const { return {epoch_ns_ + ms * 1'000'000}; }

void KafkaTrace::watch() {
    while (true) {
        look(false);
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, kLook, [this] { return stopping_; })) return;
    }
}

void KafkaTrace::look(bool last) {
    // Read first, told last: what a broker logged before a decision that it led to is read by then.
    const std::vector<MetadataBatch> batches = metadata_.poll();
    for (Broker& broker : brokers_) {
        // A cut is logged, with its reason, before it is made.
        read_log(broker);
        for (Replica& replica : broker.replicas) look_at(broker, replica, last);
    }
    for (const MetadataBatch& batch : batches) {
        const Instant at = at_wall_ms(batch.timestamp_ms);
        for (const Decision& decision : decisions_.of(batch)) {
            tell(options_.controllers.front(), at, decision.members);
            const WatchedProcess* registered = process_of(decision.registered);
            if (registered != nullptr)
                tell(*registered, at,
                     fmt::format(R"("e":"registered","outside":true,"broker_epoch":{})", batch.base_offset));
        }
    }
    const std::lock_guard lock(writing_);
    for (auto& [id, file] : files_) file.flush();
}

void KafkaTrace::answered(Instant at, const Produce& produce) {
    const WatchedProcess* process = process_of(produce.broker);
    // What has no code (no answer in time) is no answer of the broker.
    const auto code = wire::parse_error_name(produce.error.view());
    if (process == nullptr || !produce.acks || (produce.status != Outcome::Ok && !code)) return;
    std::string members =
        fmt::format(R"("e":"ack","p":"{}-{}","outside":true,"acks":{},"error":{})", options_.topic,
                    produce.partition, *produce.acks, static_cast<int>(code.value_or(wire::ErrorCode::None)));
    if (produce.offset >= 0) members += fmt::format(R"(,"first":{0},"last":{0})", produce.offset);
    tell(*process, at, members);
    if (produce.status == Outcome::Ok && produce.offset >= 0)
        tell(*process, at,
             fmt::format(R"("e":"append","p":"{}-{}","outside":true,"acks":{},"first":{},"leo":{})",
                         options_.topic, produce.partition, *produce.acks, produce.offset,
                         produce.offset + 1));
}

void KafkaTrace::started(BrokerId id, std::int32_t incarnation) {
    for (const auto* group : {&options_.brokers, &options_.controllers}) {
        for (const WatchedProcess& process : *group) {
            if (process.id != id) continue;
            {
                const std::lock_guard lock(writing_);
                incarnations_[id] = incarnation;
            }
            tell(process, monotonic_now(),
                 fmt::format(R"("e":"start","outside":true,"role":"{}")",
                             group == &options_.brokers ? "broker" : "controller"));
        }
    }
}

void KafkaTrace::sampled(BrokerId broker, const ReplicaSample& sample) {
    const WatchedProcess* process = process_of(broker);
    if (process == nullptr) return;
    {
        const std::lock_guard lock(writing_);
        const auto [told, fresh] = samples_.try_emplace(broker, sample);
        const ReplicaSample& last = told->second;
        if (!fresh && last.leader == sample.leader && last.epoch == sample.epoch &&
            last.log_end_offset == sample.log_end_offset && last.high_watermark == sample.high_watermark)
            return;
        told->second = sample;
    }
    tell(*process, sample.at,
         fmt::format(R"("e":"sample","p":"{}-0","outside":true,"leader":{},"epoch":{},"leo":{},"hw":{})",
                     options_.topic, sample.leader, sample.epoch, sample.log_end_offset,
                     sample.high_watermark));
}

const WatchedProcess* KafkaTrace::process_of(BrokerId broker) const {
    for (const WatchedProcess& process : options_.brokers) {
        if (process.id == broker) return &process;
    }
    return nullptr;
}

void KafkaTrace::look_at(Broker& broker, Replica& replica, bool last) {
    const Instant began = monotonic_now();
    const SegmentTail::Progress progress = replica.tail.poll();
    const std::optional<Offset> end = replica.tail.log_end();
    if (progress.changed && end && replica.told_end && *end < *replica.told_end) {
        tell(broker.process, monotonic_now(),
             fmt::format(R"("e":"truncate","p":"{}-{}","outside":true,"from":{},"to":{})", options_.topic,
                         replica.partition, *replica.told_end, *end));
    }
    const bool told_long_ago = began - replica.told_at >= kToldAgain;
    if (progress.changed || (end && (last || told_long_ago))) {
        const LeaderEpoch epoch =
            replica.tail.epochs().empty() ? kNoEpoch : replica.tail.epochs().back().epoch;
        // The line closes the time of the one before: that end was seen until then.
        const Instant until = progress.changed ? replica.unchanged_until : began;
        if (end && replica.told_end && *end > *replica.told_end)
            tell(broker.process, monotonic_now(),
                 fmt::format(R"("e":"append","p":"{}-{}","outside":true,"epoch":{},"first":{},"leo":{})",
                             options_.topic, replica.partition, epoch, *replica.told_end, *end));
        tell(broker.process, monotonic_now(),
             fmt::format(R"("e":"log-end","p":"{}-{}","outside":true,"leo":{},"epoch":{},"until":{})",
                         options_.topic, replica.partition, end.value_or(0), epoch, until.ns));
        replica.told_end = end;
        replica.told_at = began;
    }
    replica.unchanged_until = began;
}

void KafkaTrace::read_log(Broker& broker) {
    std::ifstream file(broker.process.node_dir + "/stdout.log", std::ios::binary);
    if (!file) return;
    file.seekg(static_cast<std::streamoff>(broker.log_read));
    for (std::string line; std::getline(file, line);) {
        if (file.eof()) break;  // its end is still to come
        broker.log_read += line.size() + 1;
        const auto event = parse_broker_log(line);
        if (event && event->kind == TraceKind::ShuttingDown) decisions_.shuts_down(broker.process.id);
        if (event && event->topic == options_.topic) tell_logged(broker, *event);
    }
}

void KafkaTrace::tell_logged(Broker& broker, const LoggedEvent& event) {
    std::string members = fmt::format(R"("e":"{}","p":"{}-{}","outside":true)", trace_kind_name(event.kind),
                                      event.topic, event.partition);
    if (event.kind == TraceKind::Role) {
        std::vector<OffsetAndEpoch> table;
        for (Replica& replica : broker.replicas) {
            if (replica.partition == event.partition) table = replica.tail.epochs();
        }
        // What it has appended since is not of before.
        std::erase_if(table, [&event](const OffsetAndEpoch& entry) { return entry.epoch >= event.epoch; });
        if (event.role == "leader") table.push_back({.offset = event.log_end_offset, .epoch = event.epoch});
        members += fmt::format(
            R"(,"role":"{}","leader":{},"epoch":{},"partition_epoch":{},"leo":{},"hw":{},"table":{})",
            event.role, event.leader == kNoBroker ? broker.process.id : event.leader, event.epoch,
            event.partition_epoch, event.log_end_offset, event.high_watermark, table_text(table));
    }
    if (event.kind == TraceKind::Registration)
        members += fmt::format(R"(,"leader":{},"epoch":{},"partition_epoch":{})", event.leader, event.epoch,
                               event.partition_epoch);
    if (event.kind == TraceKind::IsrCommitted || event.kind == TraceKind::Role ||
        event.kind == TraceKind::Registration)
        members += fmt::format(R"(,"isr":[{}])", fmt::join(event.isr, ","));
    if (event.kind == TraceKind::IsrCommitted)
        members += fmt::format(R"(,"partition_epoch":{})", event.partition_epoch);
    if (event.kind == TraceKind::IsrProposed)
        members += fmt::format(R"(,"from":[{}],"to":[{}],"leo":{},"hw":{})", fmt::join(event.isr_from, ","),
                               fmt::join(event.isr, ","), event.log_end_offset, event.high_watermark) +
                   fmt::format(R"(,"lagging":[{}])", lagging_text(event.lagging));
    if (event.kind == TraceKind::Truncate) members += truncation_members(broker, event);
    tell(broker.process, at_wall_ms(event.wall_ms), members);
}

std::string KafkaTrace::truncation_members(Broker& broker, const LoggedEvent& event) {
    Offset from = event.log_end_offset;
    for (Replica& replica : broker.replicas) {
        if (replica.partition != event.partition) continue;
        from = std::max(replica.told_end.value_or(from), from);
        // The file will show nothing that has not been told.
        if (replica.told_end) replica.told_end = std::min(*replica.told_end, event.log_end_offset);
    }
    return fmt::format(R"(,"leader":{},"from":{},"to":{},"diverging":[{},{}])", event.leader, from,
                       event.log_end_offset, event.diverging.epoch, event.diverging.offset);
}

void KafkaTrace::tell(const WatchedProcess& process, Instant at, const std::string& members) {
    const std::lock_guard lock(writing_);
    const auto [found, fresh] = files_.try_emplace(process.id);
    const auto known = incarnations_.find(process.id);
    const std::int32_t incarnation = known == incarnations_.end() ? 1 : known->second;
    if (fresh) found->second.open(file_of(process.node_dir), std::ios::app);
    found->second << fmt::format("{{\"t\":{},\"n\":{},\"i\":{},\"s\":{},{}}}\n", at.ns, process.id,
                                 incarnation, ++told_[process.id], members);
}

}  // namespace highwater::harness
