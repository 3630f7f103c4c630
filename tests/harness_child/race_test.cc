// A child's pidfd on an asio descriptor raced with a timer, after two earlier children in the same
// io_context. Ways that let the library wait for the child lost the timer or the child here; ours must win
// every round.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "harness/child.h"

namespace highwater::harness {
namespace {

namespace asio = boost::asio;

enum class Winner : std::uint8_t { Nobody, Child, Timer };

asio::awaitable<void> wait_child(int pidfd) {
    const auto executor = co_await asio::this_coro::executor;
    asio::posix::stream_descriptor descriptor(executor, ::dup(pidfd));
    co_await descriptor.async_wait(asio::posix::descriptor_base::wait_read, asio::use_awaitable);
}

asio::awaitable<void> wait_timer(Duration duration) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, duration);
    co_await timer.async_wait(asio::use_awaitable);
}

Result<Child> launch(const std::string& seconds_to_sleep) {
    return Child::launch({.program = "sleep", .args = {seconds_to_sleep}, .output_file = "/dev/null"});
}

/// Two children are waited for first; then the third races with the timer.
asio::awaitable<void> race(std::string sleep, Duration timeout, Winner& winner) {
    using asio::experimental::awaitable_operators::operator||;
    for (int earlier = 0; earlier < 2; ++earlier) {
        auto child = launch("0");
        EXPECT_TRUE(child);
        co_await wait_child(child->pidfd());
        EXPECT_TRUE(child->poll_exit());
    }
    auto child = launch(sleep);
    EXPECT_TRUE(child);
    const auto first = co_await (wait_child(child->pidfd()) || wait_timer(timeout));
    winner = first.index() == 0 ? Winner::Child : Winner::Timer;
    EXPECT_EQ(child->poll_exit().has_value(), winner == Winner::Child);
}

Winner run_race(const std::string& sleep, Duration timeout) {
    asio::io_context io;
    Winner winner = Winner::Nobody;
    asio::co_spawn(io, race(sleep, timeout, winner), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    });
    io.run_for(std::chrono::seconds(20));
    return winner;
}

TEST(ChildRace, TheTimerWinsAgainstALongLivedChild) {
    for (int round = 0; round < 10; ++round)
        EXPECT_EQ(run_race("1000", milliseconds(100)), Winner::Timer) << round;
}

TEST(ChildRace, TheChildWinsAgainstALongTimer) {
    for (int round = 0; round < 10; ++round)
        EXPECT_EQ(run_race("0.05", seconds(1000)), Winner::Child) << round;
}

}  // namespace
}  // namespace highwater::harness
