// A controller on a bench: storage in memory, a clock that only moves when told, brokers that say what a line
// says. Commands, each line of a transcript one (keys left out have the value a well-behaved broker would
// send):
//   start [session=9s unclean=true unclean-interval=300s rebalance=false rebalance-interval=300s factor=1
//   partitions=1 min-isr=1 elr=true bugs=NAMES]   (without elr=true: none)
//   brokers 1,2,3                       registers and unfences them, silently
//   register B [incarnation=a previous=EPOCH cluster=other directories=1,2 address=HOST:PORT]
//   heartbeat B [epoch=N offset=N want-fence want-shut-down]
//   advance 3s [heartbeats=1,2]         ticks whenever due; these brokers send a heartbeat every second
//   create-topic NAME [partitions=N factor=N assignment=1,2/2,1 config.KEY=VALUE twice validate-only
//   version=4] alter-partition T-0 isr=1,2 [from=B broker-epoch=N leader-epoch=N partition-epoch=N recovering
//   isr-epochs=1:5,2:6
//                                version=2 topic-id=unknown]
//   delete-topics NAME id:NAME both:NAME NOTHING … [by-state]
//   alter-configs NAME KEY=VALUE KEY+=VALUE KEY-=VALUE KEY= … [same-key twice of-broker validate-only]
//   elect-leaders preferred|unclean|other ALL|T-0 …
//   allocate-producer-ids B [epoch=N]
//   restart [power-loss, settings as start]  fail-writes  image  records [from=N]
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "node/controller/controller.h"
#include "node/log/memory_storage.h"
#include "tests/node_replica/transcript.h"

namespace highwater::node {

class ControllerBench {
public:
    /// Runs a block's commands: answers and events as they come.
    std::string run(const std::vector<std::string>& commands);

    [[nodiscard]] const Controller& controller() const { return *controller_; }

private:
    std::string run_command(const std::string& command);
    std::string open();
    std::string take_events();
    [[nodiscard]] BrokerEpoch epoch_of(BrokerId id) const;
    [[nodiscard]] std::string since_start(Instant at) const;

    void read_settings(CommandWords& words);
    std::string start(CommandWords& words);
    std::string brokers(CommandWords& words);
    std::string register_broker(CommandWords& words);
    std::string heartbeat(CommandWords& words);
    std::string advance(CommandWords& words);
    std::string create_topic(CommandWords& words);
    std::string alter_partition(CommandWords& words);
    std::string delete_topics(CommandWords& words);
    std::string alter_configs(CommandWords& words);
    std::string elect_leaders(CommandWords& words);
    std::string allocate_producer_ids(CommandWords& words);
    std::string restart(CommandWords& words);
    std::string image() const;
    std::string records(CommandWords& words) const;

    ControllerSettings settings_;
    std::unique_ptr<MemoryStorage> storage_;
    std::unique_ptr<Controller> controller_;
    std::uint64_t seed_ = 1;
    const Instant begin_{seconds(1000).count() * 1'000'000'000};
    Instant now_ = begin_;
};

}  // namespace highwater::node
