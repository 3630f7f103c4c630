// A slot, relays among brokers 1 and 2, controller 100 and client 150, and servers at their real addresses.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "nemesis/address_plan.h"
#include "nemesis/network.h"
#include "tests/nemesis/frame_peer.h"

namespace highwater::nemesis {

inline constexpr auto kFetch = static_cast<std::int16_t>(wire::ApiKey::Fetch);
inline constexpr auto kMetadata = static_cast<std::int16_t>(wire::ApiKey::Metadata);

class NetworkTest : public testing::Test {
protected:
    void SetUp() override {
        auto claimed = SlotClaim::claim();
        ASSERT_TRUE(claimed) << claimed.error().message;
        claim_ = std::make_unique<SlotClaim>(std::move(*claimed));
        one_ = std::make_unique<FrameServer>(plan().real_address(1), kInternalPort);
        two_ = std::make_unique<FrameServer>(plan().real_address(2), kInternalPort);
        controller_ = std::make_unique<FrameServer>(plan().real_address(100), kControllerPort);
        start({});
    }

    void start(NetworkOptions options) {
        network_.reset();
        options.seed = 7;
        auto started = Network::start(plan(), members_, std::move(options));
        ASSERT_TRUE(started) << started.error().message;
        network_ = std::move(*started);
    }

    [[nodiscard]] const AddressPlan& plan() const { return claim_->plan(); }

    /// Opens conn(source, destination) through its relay.
    FrameClient open(BrokerId source, BrokerId destination) {
        FrameClient client;
        EXPECT_EQ(
            client.connect(plan().address(source, destination), AddressPlan::link_port(source, destination)),
            0);
        return client;
    }

    void add(const PathRule& rule) {
        const FaultEffect effect = network_->add_rule(rule);
        ASSERT_TRUE(effect.ok) << effect.detail;
        EXPECT_GE(effect.effective, effect.requested);
    }
    void remove(const std::string& id) {
        const FaultEffect effect = network_->remove_rule(id);
        ASSERT_TRUE(effect.ok) << effect.detail;
    }

    Members members_{{1, 2}, {100}, {150}};
    std::unique_ptr<SlotClaim> claim_;
    std::unique_ptr<FrameServer> one_;
    std::unique_ptr<FrameServer> two_;
    std::unique_ptr<FrameServer> controller_;
    std::unique_ptr<Network> network_;
};

}  // namespace highwater::nemesis
