// The relay thread: listeners, the list of relays, and the way other threads ask it things.
#include "nemesis/network.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <map>
#include <set>
#include <thread>
#include <type_traits>

#include "base/assert.h"
#include "nemesis/probe.h"
#include "nemesis/relay.h"
#include "nemesis/tcp_table.h"

namespace highwater::nemesis {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kReadSize = std::size_t{64} << 10U;
/// After accept() failed for want of descriptors or memory.
constexpr Duration kAcceptRetry = milliseconds(10);

/// What the kernel's sched_setattr takes; not in every C library's headers.
struct SchedulingAttributes {
    std::uint32_t size = sizeof(SchedulingAttributes);
    std::uint32_t policy = SCHED_OTHER;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

/// A relay that waits for a core is a delay that nobody asked for. It works in short bursts, so it may go
/// first; where that is not allowed, a short slice brings it to a core sooner. Returns what was granted.
const char* schedule_this_thread_soon() {
    const sched_param lowest_of_realtime{.sched_priority = 1};
    if (::pthread_setschedparam(::pthread_self(), SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest_of_realtime) == 0)
        return "SCHED_FIFO";
    SchedulingAttributes attributes;
    attributes.runtime = 100'000;  // ns; from Linux 6.12 on the slice, ignored before
    if (::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0) return "a slice of 100 us";
    return "the ordinary scheduling";
}

}  // namespace

/// Listens for one kind of connection. Closed while a rule refuses it.
struct Listener {
    Listener(Link l, asio::io_context& io) : link(l), acceptor(io), retry(io) {}
    Link link;
    tcp::acceptor acceptor;
    asio::steady_timer retry;
};

class Network::Impl {
public:
    Impl(const AddressPlan& plan, const Members& members, NetworkOptions options)
        : plan_(plan),
          members_(members),
          options_(std::move(options)),
          context_{.io = io_,
                   .options = options_,
                   .rules = {},
                   .meter = {},
                   .rng = Rng(options_.seed),
                   .scratch = Bytes(kReadSize),
                   .ended = [this](Relay* relay) { ended(relay); }} {}

    ~Impl() {
        if (!thread_.joinable()) return;
        on_thread([this] {
            for (const auto& listener : listeners_) listener->acceptor.close();
            for (const auto& relay : copy_of_relays()) relay->close();
        });
        work_.reset();
        io_.stop();
        thread_.join();
    }

    Status start() {
        for (const Link& link : AddressPlan::links(members_)) {
            listeners_.push_back(std::make_unique<Listener>(link, io_));
            if (const Status opened = open(*listeners_.back()); !opened) return opened;
        }
        // Signals are for the main thread.
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        thread_ = std::thread([this] {
            pthread_setname_np(pthread_self(), "relays");
            // Timers to the nanosecond: the default slack would be 50 us of lateness.
            ::prctl(PR_SET_TIMERSLACK, 1UL);
            scheduling_ = schedule_this_thread_soon();
            io_.run();
        });
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return {};
    }

    /// Runs `work` in the relay thread and returns what it returned.
    template <class Work>
    std::invoke_result_t<Work> on_thread(Work work) {
        HW_ASSERT(std::this_thread::get_id() != thread_.get_id(), "called from the relay thread");
        std::packaged_task<std::invoke_result_t<Work>()> task(std::move(work));
        auto result = task.get_future();
        // The task belongs to the relay thread: it is still busy with it for a moment after the result is
        // there.
        asio::post(io_, [posted = std::move(task)]() mutable { posted(); });
        return result.get();
    }

    /// `change` returns what shows its effect.
    FaultEffect effect_of(const std::function<Result<std::string>()>& change) {
        FaultEffect effect;
        effect.requested = monotonic_now();
        on_thread([&] {
            auto changed = change();
            effect.ok = changed.has_value();
            if (changed) effect.proof = std::move(*changed);
            if (!changed) effect.detail = changed.error().message;
            effect.effective = monotonic_now();
        });
        return effect;
    }

    Result<std::string> add_rule(const PathRule& rule) {
        if (const Status added = context_.rules.add(rule, members_); !added)
            return tl::make_unexpected(added.error());
        // Before connections are cut: those count.
        before_[rule.id] = {monotonic_now(), context_.meter.paths[{rule.source, rule.destination}].stats};
        if (const Status changed = rules_changed(); !changed) return tl::make_unexpected(changed.error());
        return "in force in the relays";
    }

    Result<std::string> remove_rule(const std::string& id) {
        std::string proof;
        for (const PathRule& rule : context_.rules.rules()) {
            if (rule.id != id) continue;
            // First what waits, then what becomes of it.
            proof = did(rule);
            if (!rule.discard_if_closed) continue;
            for (const auto& relay : copy_of_relays()) relay->discard_held_by(rule);
        }
        if (const auto removed = context_.rules.remove(id); !removed)
            return tl::make_unexpected(removed.error());
        before_.erase(id);
        if (const Status changed = rules_changed(); !changed) return tl::make_unexpected(changed.error());
        return proof;
    }

    /// What a rule in force has done so far.
    std::string did(const PathRule& rule) {
        const Before& before = before_[rule.id];
        const PathStats now = context_.meter.paths[{rule.source, rule.destination}].stats;
        const double lasted = to_seconds(monotonic_now() - before.at);
        if (rule.kind == FaultKind::Hold) {
            Waiting waiting;
            for (const auto& relay : relays_) {
                const Waiting more = relay->waiting_for(rule);
                waiting.frames += more.frames;
                waiting.of_closed += more.of_closed;
            }
            std::string text = fmt::format("{} frames waited", waiting.frames);
            if (waiting.of_closed > 0) {
                text += fmt::format(", {} of closed senders {}", waiting.of_closed,
                                    rule.discard_if_closed ? "discarded" : "delivered late");
            }
            return text;
        }
        if (rule.kind == FaultKind::Cut)
            return fmt::format("{} connections reset", now.connections_cut - before.stats.connections_cut);
        if (rule.kind == FaultKind::Throttle)
            return fmt::format("{} bytes passed in {:.2f} s", now.bytes - before.stats.bytes, lasted);
        return fmt::format("{} frames passed in {:.2f} s", now.frames - before.stats.frames, lasted);
    }

    Result<std::string> heal() {
        Result<std::string> worst;
        for (const PathRule& rule : context_.rules.rules()) {
            auto removed = remove_rule(rule.id);
            if (!removed) {
                worst = std::move(removed);
            } else if (worst) {
                *worst += fmt::format("{}{}: {}", worst->empty() ? "" : "; ", rule.id, *removed);
            }
        }
        return worst;
    }

    const AddressPlan& plan() const { return plan_; }
    std::string scheduling() const { return scheduling_; }
    RelayContext& context() { return context_; }
    std::size_t waiting_frames(const Path& path, std::int16_t api_key) const {
        std::size_t frames = 0;
        for (const auto& relay : relays_) frames += relay->waiting_frames(path, api_key);
        return frames;
    }
    std::size_t queued_bytes(BrokerId source, BrokerId destination) const {
        std::size_t bytes = 0;
        for (const auto& relay : relays_) bytes += relay->queued_bytes(source, destination);
        return bytes;
    }

private:
    /// A path when a rule came upon it.
    struct Before {
        Instant at;
        PathStats stats;
    };

    std::vector<std::shared_ptr<Relay>> copy_of_relays() const { return {relays_.begin(), relays_.end()}; }

    Status rules_changed() {
        Status worst;
        for (const auto& listener : listeners_) {
            const bool refused = context_.rules.refuses(listener->link.source, listener->link.destination);
            error_code ignored;
            if (refused) {
                // What waits in the backlog is reset by the kernel, later connections are refused.
                listener->acceptor.close(ignored);
                listener->retry.cancel();
            } else if (!listener->acceptor.is_open()) {
                if (const Status opened = open(*listener); !opened) worst = opened;
            }
        }
        for (const auto& relay : copy_of_relays()) relay->rules_changed();
        return worst;
    }

    Status open(Listener& listener) {
        const std::string address = plan_.address(listener.link.source, listener.link.destination);
        tcp::acceptor& acceptor = listener.acceptor;
        error_code error;
        acceptor.open(tcp::v4(), error);
        if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
        if (!error) acceptor.bind({asio::ip::make_address_v4(address), listener.link.port}, error);
        if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
        if (!error) acceptor.non_blocking(true, error);
        if (error) {
            error_code ignored;
            acceptor.close(ignored);
            return failure(fmt::format("a relay cannot listen on {}:{}: {}", address, listener.link.port,
                                       error.message()));
        }
        accept_when_ready(listener);
        return {};
    }

    void accept_when_ready(Listener& listener) {
        listener.acceptor.async_wait(tcp::acceptor::wait_read, [this, &listener](const error_code& error) {
            if (!error && listener.acceptor.is_open()) accept(listener);
        });
    }

    void accept(Listener& listener) {
        sockaddr_in peer{};
        socklen_t size = sizeof(peer);
        const int accepted = ::accept4(listener.acceptor.native_handle(), reinterpret_cast<sockaddr*>(&peer),
                                       &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (accepted < 0) {
            if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
                return accept_when_ready(listener);
            listener.retry.expires_after(kAcceptRetry);
            listener.retry.async_wait([this, &listener](const error_code& error) {
                if (!error && listener.acceptor.is_open()) accept_when_ready(listener);
            });
            return;
        }
        const Link& link = listener.link;
        RelayEnds ends{link, plan_.real_address(link.destination), plan_.relay_source(link.source)};
        ends.probe =
            asio::ip::address_v4(ntohl(peer.sin_addr.s_addr)).to_string() == plan_.probe_source(link.source);
        const std::shared_ptr<Relay> relay = make_relay(context_, ends, accepted);
        relays_.insert(relay);
        relay->start();
        accept_when_ready(listener);
    }

    void ended(Relay* relay) {
        const auto found = std::find_if(relays_.begin(), relays_.end(),
                                        [relay](const auto& candidate) { return candidate.get() == relay; });
        if (found != relays_.end()) relays_.erase(found);
    }

    AddressPlan plan_;
    Members members_;
    NetworkOptions options_;
    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(io_);
    RelayContext context_;
    std::vector<std::unique_ptr<Listener>> listeners_;
    std::set<std::shared_ptr<Relay>> relays_;
    std::map<std::string, Before> before_;
    const char* scheduling_ = "";
    std::thread thread_;
};

Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Network::~Network() = default;

Result<std::unique_ptr<Network>> Network::start(const AddressPlan& plan, const Members& members,
                                                NetworkOptions options) {
    auto impl = std::make_unique<Impl>(plan, members, std::move(options));
    if (const Status started = impl->start(); !started) return tl::make_unexpected(started.error());
    return std::unique_ptr<Network>(new Network(std::move(impl)));
}

FaultEffect Network::add_rule(const PathRule& rule) {
    return impl_->effect_of([&] { return impl_->add_rule(rule); });
}
FaultEffect Network::remove_rule(const std::string& id) {
    return impl_->effect_of([&] { return impl_->remove_rule(id); });
}
FaultEffect Network::heal() {
    return impl_->effect_of([&] { return impl_->heal(); });
}
std::vector<PathRule> Network::rules() const {
    return impl_->on_thread([&] { return impl_->context().rules.rules(); });
}

PathStats Network::stats(BrokerId source, BrokerId destination) const {
    return impl_->on_thread([&] { return impl_->context().meter.paths[{source, destination}].stats; });
}
std::uint64_t Network::passed(BrokerId source, BrokerId destination, std::int16_t api_key) const {
    return impl_->on_thread([&] {
        const auto& frames = impl_->context().meter.paths[{source, destination}].frames_by_api;
        const auto found = frames.find(api_key);
        return found == frames.end() ? std::uint64_t{0} : found->second;
    });
}
std::uint64_t Network::frames_since(BrokerId source, BrokerId destination, Instant since) const {
    return impl_->on_thread(
        [&] { return impl_->context().meter.paths[{source, destination}].frames_since(since); });
}
std::uint64_t Network::passed_since(BrokerId source, BrokerId destination, std::int16_t api_key,
                                    FramePart part, Instant since) const {
    return impl_->on_thread([&] {
        return impl_->context().meter.paths[{source, destination}].frames_since(api_key, part, since);
    });
}
std::size_t Network::waiting(BrokerId source, BrokerId destination, std::int16_t api_key,
                             FramePart part) const {
    return impl_->on_thread([&] { return impl_->waiting_frames({source, destination, part}, api_key); });
}
bool Network::round_trip_since(BrokerId source, BrokerId destination, Instant since) const {
    return impl_->on_thread(
        [&] { return impl_->context().meter.links[{source, destination}].latest_answered_request >= since; });
}
std::size_t Network::connections(BrokerId source, BrokerId destination) const {
    return impl_->on_thread(
        [&] { return impl_->context().meter.links[{source, destination}].open_connections; });
}
std::size_t Network::queued_bytes(BrokerId source, BrokerId destination) const {
    return impl_->on_thread([&] { return impl_->queued_bytes(source, destination); });
}
Lateness Network::lateness() const {
    return impl_->on_thread([&] { return impl_->context().meter.lateness.summary(); });
}

std::string Network::scheduling() const {
    return impl_->on_thread([&] { return impl_->scheduling(); });
}

Status Network::probe(BrokerId source, BrokerId destination, Instant deadline) const {
    return probe_path(impl_->plan(), source, destination, deadline);
}

Result<std::vector<std::string>> Network::bypasses(const OwnsSocket& owns) const {
    const auto sockets = read_tcp_table();
    if (!sockets) return tl::make_unexpected(sockets.error());
    return find_bypasses(*sockets, impl_->plan(), owns);
}

}  // namespace highwater::nemesis
