// Rules are judged for the piece at the head of a queue at the moment it could leave, not when it came: so a
// new rule also concerns what already waits, a removed one frees it, and order can never change. Writes are
// tried only when they can be done at once; a byte is either with the receiver's kernel or still subject to
// the rules.
#include "nemesis/relay.h"

#include <netinet/in.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <utility>

#include "base/assert.h"

namespace highwater::nemesis {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// Jitter keeps its value this long: drawn anew per frame, order would turn it into a longer delay at high
/// rates.
constexpr Duration kJitterWindow = milliseconds(100);

struct Item {
    /// End: the sender closed its side. Reset: it reset the connection, or could not be reached.
    enum class Kind : std::uint8_t { Data, End, Reset };
    Kind kind = Kind::Data;
    Piece piece;
    std::size_t sent = 0;
    Instant came;
    /// In [-1, 1].
    double jitter = 0;
};

struct Direction {
    Direction(Path p, tcp::socket& f, tcp::socket& t, FrameCutter c, PathMeter& m, asio::io_context& io)
        : path(p), from(f), to(t), cutter(c), meter(m), timer(io) {}

    Path path;
    tcp::socket& from;
    tcp::socket& to;
    FrameCutter cutter;
    PathMeter& meter;
    std::deque<Item> queue;
    std::size_t queued_bytes = 0;
    asio::steady_timer timer;
    Instant timer_due = Instant::never();
    bool waiting_to_read = false;
    bool waiting_to_write = false;
    /// From when on the receiver could have taken more.
    Instant receiver_ready;
    bool held = false;
    /// The sender's end is in the queue or gone through.
    bool source_ended = false;
    /// It came while this direction was held: what waits is delivered late.
    bool late = false;
    /// Nothing will leave any more.
    bool finished = false;
    double jitter = 0;
    Instant jitter_until;
    /// While throttled: bytes booked that may leave at `slot`; 0: none are booked.
    std::size_t booked = 0;
    Instant slot;
};

tcp::endpoint endpoint(const std::string& address, std::uint16_t port) {
    return {asio::ip::make_address_v4(address), port};
}

class TcpRelay final : public Relay, public std::enable_shared_from_this<TcpRelay> {
public:
    TcpRelay(RelayContext& context, const RelayEnds& ends, int accepted)
        : context_(context),
          ends_(ends),
          client_(context.io, tcp::v4(), accepted),
          upstream_(context.io),
          requests_({ends.link.source, ends.link.destination, FramePart::Request}, client_, upstream_,
                    FrameCutter(FrameCutter::Stream::Requests, unanswered_),
                    meter_of(ends.link.source, ends.link.destination), context.io),
          responses_({ends.link.destination, ends.link.source, FramePart::Response}, upstream_, client_,
                     FrameCutter(FrameCutter::Stream::Responses, unanswered_),
                     meter_of(ends.link.destination, ends.link.source), context.io) {
        if (!ends_.probe) ++link_meter().open_connections;
    }

    void start() override {
        error_code ignored;
        client_.non_blocking(true, ignored);
        client_.set_option(tcp::no_delay(true), ignored);
        rules_changed();
        read_when_ready(requests_);
    }

    void rules_changed() override {
        if (closed_) return;
        for (const Direction* direction : {&requests_, &responses_}) {
            if (context_.rules.judge(direction->path, kUnknownApi).cut) return cut(*direction);
        }
        connect_if_allowed();
        const Instant now = monotonic_now();
        for (Direction* direction : {&requests_, &responses_}) {
            direction->timer_due = Instant::never();
            direction->receiver_ready = now;
            direction->booked = 0;
            pump(*direction);
        }
    }

    void discard_held_by(const PathRule& rule) override {
        for (Direction* direction : {&requests_, &responses_}) {
            if (closed_ || !direction->held || !direction->source_ended || direction->queue.empty()) continue;
            if (!RuleSet::holds(rule, direction->path, direction->queue.front().piece.api_key)) continue;
            while (direction->queue.front().kind == Item::Kind::Data) {
                if (direction->queue.front().piece.ends_frame) ++direction->meter.stats.frames_discarded;
                direction->queue.pop_front();
            }
            direction->queued_bytes = 0;
        }
    }

    void close() override { finish_all(false); }

    [[nodiscard]] Waiting waiting_for(const PathRule& rule) const override {
        Waiting waiting;
        for (const Direction* direction : {&requests_, &responses_}) {
            if (closed_ || !direction->held || direction->queue.empty()) continue;
            if (!RuleSet::holds(rule, direction->path, direction->queue.front().piece.api_key)) continue;
            const std::size_t frames = frames_in(*direction, kUnknownApi);
            waiting.frames += frames;
            if (direction->source_ended) waiting.of_closed += frames;
        }
        return waiting;
    }

    [[nodiscard]] std::size_t waiting_frames(const Path& path, std::int16_t api_key) const override {
        std::size_t frames = 0;
        for (const Direction* direction : {&requests_, &responses_}) {
            const bool meant = direction->path.source == path.source &&
                               direction->path.destination == path.destination &&
                               (path.part == FramePart::Both || path.part == direction->path.part);
            if (meant) frames += frames_in(*direction, api_key);
        }
        return frames;
    }

    [[nodiscard]] std::size_t queued_bytes(BrokerId source, BrokerId destination) const override {
        std::size_t bytes = 0;
        for (const Direction* direction : {&requests_, &responses_}) {
            if (direction->path.source == source && direction->path.destination == destination) {
                bytes += direction->queued_bytes;
            }
        }
        return bytes;
    }

private:
    enum class Upstream : std::uint8_t { Idle, Connecting, Connected, Failed };

    /// Frames that begin in the queue; kUnknownApi: of any API.
    static std::size_t frames_in(const Direction& d, std::int16_t api_key) {
        return static_cast<std::size_t>(std::count_if(d.queue.begin(), d.queue.end(), [&](const Item& item) {
            return item.piece.starts_frame && (api_key == kUnknownApi || item.piece.api_key == api_key);
        }));
    }

    PathMeter& meter_of(BrokerId source, BrokerId destination) {
        return ends_.probe ? probe_meter_ : context_.meter.paths[{source, destination}];
    }
    LinkMeter& link_meter() { return context_.meter.links[{ends_.link.source, ends_.link.destination}]; }

    void connect_if_allowed() {
        if (upstream_state_ != Upstream::Idle) return;
        // A held path holds the opening of the connection as well.
        requests_.held = context_.rules.judge(requests_.path, kUnknownApi).hold;
        if (requests_.held) return;
        if (requests_.source_ended && requests_.queue.front().kind != Item::Kind::Data)
            return finish_all(false);
        error_code error;
        upstream_.open(tcp::v4(), error);
        if (error) return connected(error);
        // The port is chosen at connect, for this destination alone: thousands of connections may share the
        // address.
        using LatePort = asio::detail::socket_option::boolean<IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT>;
        upstream_.set_option(LatePort(true), error);
        if (!error) upstream_.bind(endpoint(ends_.source_address, 0), error);
        if (!error) upstream_.non_blocking(true, error);
        if (!error) upstream_.set_option(tcp::no_delay(true), error);
        if (error) return connected(error);
        upstream_state_ = Upstream::Connecting;
        upstream_.async_connect(endpoint(ends_.upstream_address, ends_.link.port),
                                [self = shared_from_this()](const error_code& result) {
                                    if (!self->closed_) self->connected(result);
                                });
    }

    void connected(const error_code& error) {
        if (error) {
            // The client learns of it on the path of the answers, which may be held.
            upstream_state_ = Upstream::Failed;
            give_up(requests_);
            return source_ended(responses_, Item::Kind::Reset);
        }
        upstream_state_ = Upstream::Connected;
        requests_.receiver_ready = monotonic_now();
        read_when_ready(responses_);
        pump(requests_);
    }

    void read_when_ready(Direction& d) {
        if (closed_ || d.waiting_to_read || d.source_ended || d.finished) return;
        if (&d == &responses_ && upstream_state_ != Upstream::Connected) return;
        if (d.queued_bytes >= context_.options.max_queued_bytes) return;
        d.waiting_to_read = true;
        d.from.async_wait(tcp::socket::wait_read, [self = shared_from_this(), &d](const error_code& error) {
            d.waiting_to_read = false;
            if (!self->closed_ && !d.finished) self->read(d, error);
        });
    }

    void read(Direction& d, error_code error) {
        std::size_t count = 0;
        if (!error) count = d.from.read_some(asio::buffer(context_.scratch), error);
        if (error == asio::error::would_block) return read_when_ready(d);
        if (error) return source_ended(d, error == asio::error::eof ? Item::Kind::End : Item::Kind::Reset);
        const Instant now = monotonic_now();
        pieces_.clear();
        d.cutter.feed(BytesView(context_.scratch).first(count), now, pieces_);
        enqueue(d, now);
        pump(d);
        read_when_ready(d);
    }

    void enqueue(Direction& d, Instant now) {
        for (Piece& piece : pieces_) {
            if ((piece.starts_frame || piece.unframed) && now >= d.jitter_until) {
                d.jitter = 2 * context_.rng.unit() - 1;
                d.jitter_until = now + kJitterWindow;
            }
            d.queued_bytes += piece.bytes.size();
            d.queue.push_back({.piece = std::move(piece), .came = now, .jitter = d.jitter});
        }
    }

    void source_ended(Direction& d, Item::Kind how) {
        const Instant now = monotonic_now();
        pieces_.clear();
        d.cutter.finish(pieces_);
        enqueue(d, now);
        d.queue.push_back({.kind = how, .came = now, .jitter = d.jitter});
        d.source_ended = true;
        d.late = d.held;
        pump(d);
    }

    void pump(Direction& d) {
        const bool reachable = &d == &responses_ || upstream_state_ == Upstream::Connected;
        if (reachable) deliver(d);
        read_when_ready(d);
    }

    /// Sends what the rules let through, as far as the receiver takes it.
    void deliver(Direction& d) {
        while (!closed_ && !d.finished && !d.waiting_to_write && !d.queue.empty()) {
            Item& item = d.queue.front();
            const RuleSet::Judgement judgement = context_.rules.judge(d.path, item.piece.api_key);
            if (judgement.cut) return cut(d);
            d.held = judgement.hold;
            if (d.held) return;
            if (wait_for_delay(d, item, judgement)) return;
            if (item.kind == Item::Kind::Reset) return finish_all(true);
            if (item.kind == Item::Kind::End) {
                error_code ignored;
                d.to.shutdown(tcp::socket::shutdown_send, ignored);
                return direction_finished(d);
            }
            if (wait_for_bandwidth(d, item, judgement)) return;
            if (!send(d, item)) return;
            if (item.sent == item.piece.bytes.size()) d.queue.pop_front();
        }
    }

    /// True when the item is not due yet; then the timer is set.
    bool wait_for_delay(Direction& d, const Item& item, const RuleSet::Judgement& judgement) {
        if (judgement.delay == Duration::zero()) return false;
        const auto jitter =
            static_cast<std::int64_t>(item.jitter * static_cast<double>(judgement.jitter.count()));
        const Instant due = item.came + judgement.delay + Duration{jitter};
        const Instant now = monotonic_now();
        if (due <= now) {
            // Lateness is ours only if the receiver was ready; the rest of a half-sent piece was counted
            // before.
            if (item.sent == 0 && d.receiver_ready <= due) context_.meter.lateness.add(now - due);
            return false;
        }
        set_timer(d, due);
        return true;
    }

    /// True when the bandwidth is not there yet; then the timer is set. A part at a time is booked, so that
    /// connections of one path take turns.
    bool wait_for_bandwidth(Direction& d, const Item& item, const RuleSet::Judgement& judgement) {
        if (judgement.chunk == 0) {
            d.booked = 0;
            return false;
        }
        const Instant now = monotonic_now();
        if (d.booked == 0) {
            d.booked = std::min(judgement.chunk, item.piece.bytes.size() - item.sent);
            d.slot = context_.rules.book(d.path, item.piece.api_key, d.booked, now);
        }
        if (d.slot <= now) return false;
        set_timer(d, d.slot);
        return true;
    }

    void set_timer(Direction& d, Instant due) {
        if (d.timer_due == due) return;
        d.timer_due = due;
        d.timer.expires_at(asio::steady_timer::time_point(Duration{due.ns}));
        d.timer.async_wait([self = shared_from_this(), &d](const error_code& error) {
            if (error || self->closed_) return;
            d.timer_due = Instant::never();
            self->pump(d);
        });
    }

    /// True when all that may leave now is with the receiver: the whole item, or what was booked of it.
    bool send(Direction& d, Item& item) {
        const Bytes& bytes = item.piece.bytes;
        std::size_t most = bytes.size() - item.sent;
        if (d.booked > 0) most = std::min(most, d.booked);
        error_code error;
        const std::size_t count = d.to.write_some(asio::buffer(bytes.data() + item.sent, most), error);
        if (error == asio::error::would_block) {
            write_when_ready(d);
            return false;
        }
        if (error) {
            give_up(d);
            return false;
        }
        item.sent += count;
        d.queued_bytes -= count;
        d.meter.stats.bytes += count;
        if (item.piece.unframed) d.meter.stats.unframed_bytes += count;
        if (d.booked > 0) d.booked -= count;
        if (count < most) {
            write_when_ready(d);
            return false;
        }
        if (item.sent < bytes.size()) return true;
        if (item.piece.ends_frame) frame_passed(d, item.piece);
        return true;
    }

    void write_when_ready(Direction& d) {
        d.waiting_to_write = true;
        d.to.async_wait(tcp::socket::wait_write, [self = shared_from_this(), &d](const error_code& error) {
            d.waiting_to_write = false;
            d.receiver_ready = monotonic_now();
            if (!self->closed_ && !error) self->pump(d);
        });
    }

    void frame_passed(Direction& d, const Piece& piece) {
        const Instant now = monotonic_now();
        d.meter.frame_passed(piece.api_key, d.path.part, now);
        if (d.late) ++d.meter.stats.frames_delivered_late;
        if (ends_.probe) return;
        if (piece.request_came) {
            Instant& latest = link_meter().latest_answered_request;
            latest = std::max(latest, *piece.request_came);
        }
        if (context_.options.on_frame) {
            context_.options.on_frame({d.path.source, d.path.destination, piece.api_key, d.path.part, now});
        }
    }

    /// The receiver is gone: nothing of this direction can arrive. The other direction goes on until its own
    /// end.
    void give_up(Direction& d) {
        d.queue.clear();
        d.queued_bytes = 0;
        direction_finished(d);
    }

    void direction_finished(Direction& d) {
        d.finished = true;
        d.held = false;
        if (requests_.finished && responses_.finished) finish_all(false);
    }

    void cut(Direction& by) {
        ++by.meter.stats.connections_cut;
        finish_all(true);
    }
    void cut(const Direction& by) { cut(&by == &requests_ ? requests_ : responses_); }

    void finish_all(bool reset) {
        if (closed_) return;
        closed_ = true;
        error_code ignored;
        for (tcp::socket* socket : {&client_, &upstream_}) {
            if (!socket->is_open()) continue;
            if (reset) socket->set_option(asio::socket_base::linger(true, 0), ignored);
            socket->close(ignored);
        }
        requests_.timer.cancel();
        responses_.timer.cancel();
        if (!ends_.probe) --link_meter().open_connections;
        // Whoever holds the list of relays lets go of this one now.
        const auto self = shared_from_this();
        context_.ended(this);
    }

    RelayContext& context_;
    RelayEnds ends_;
    tcp::socket client_;
    tcp::socket upstream_;
    Upstream upstream_state_ = Upstream::Idle;
    PathMeter probe_meter_;
    Unanswered unanswered_;
    Direction requests_;
    Direction responses_;
    std::vector<Piece> pieces_;
    bool closed_ = false;
};

}  // namespace

std::shared_ptr<Relay> make_relay(RelayContext& context, const RelayEnds& ends, int accepted) {
    return std::make_shared<TcpRelay>(context, ends, accepted);
}

}  // namespace highwater::nemesis
