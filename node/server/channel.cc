#include "node/server/channel.h"

#include <algorithm>

#include "base/assert.h"

namespace highwater::node {
namespace {

constexpr Duration kFirstBackoff = milliseconds(50);
constexpr Duration kLongestBackoff = milliseconds(1000);

}  // namespace

void Channel::start(Instant now, Bytes frame, Completion completion, std::optional<Duration> timeout) {
    HW_ASSERT(idle(), "{} has a request in flight", client_id_);
    pending_ = Pending{std::move(frame), std::move(completion), now + timeout.value_or(timeout_), false};
    pump(now);
}

void Channel::pump(Instant now) {
    if (!pending_ || pending_->sent) return;
    if (!conn_) {
        if (now < retry_at_) return;
        conn_ = outbox_.open(host_, port_);
        connected_ = false;
    } else if (connected_) {
        pending_->sent = true;
        outbox_.send(*conn_, pending_->frame);
    }
}

bool Channel::connected(Instant now, ConnId conn) {
    if (conn_ != conn) return false;
    connected_ = true;
    backoff_ = Duration{0};
    pump(now);
    return true;
}

void Channel::drop_connection(Instant now, const std::string& reason) {
    conn_.reset();
    connected_ = false;
    backoff_ = backoff_ == Duration{0} ? kFirstBackoff : std::min(backoff_ * 2, kLongestBackoff);
    retry_at_ = now + backoff_;
    finish(now, failure(reason));
}

bool Channel::disconnected(Instant now, ConnId conn, const std::string& reason) {
    if (conn_ != conn) return false;
    drop_connection(now, reason);
    return true;
}

bool Channel::frame(Instant now, ConnId conn, BytesView payload) {
    if (conn_ != conn) return false;
    if (!pending_ || !pending_->sent) {
        reset(now, "an answer that nothing asked for");
        return true;
    }
    finish(now, payload);
    return true;
}

void Channel::tick(Instant now) {
    if (pending_ && now >= pending_->give_up) {
        reset(now, "request timed out");
    } else {
        pump(now);
    }
}

Instant Channel::deadline() const {
    if (!pending_) return Instant::never();
    if (!conn_) return std::min(std::max(retry_at_, Instant{0}), pending_->give_up);
    return pending_->give_up;
}

void Channel::reset(Instant now, const std::string& reason) {
    if (conn_) {
        outbox_.close(*conn_, reason);
        drop_connection(now, reason);
    } else {
        finish(now, failure(reason));
    }
}

void Channel::finish(Instant now, const Result<BytesView>& result) {
    if (!pending_) return;
    const Completion completion = std::move(pending_->completion);
    pending_.reset();
    completion(now, result);
}

}  // namespace highwater::node
