#include "tests/sim/bug_scripts.h"

namespace highwater::sim {
namespace {

using wire::ApiKey;

// -- high watermark and acknowledgement
// ----------------------------------------------------------------------

/// A fetch that waits at the leader already would be answered by the next append.
void starve(Script& script, BrokerId follower) {
    script.hold(follower, 1, ApiKey::Fetch);
    script.until_held(follower, 1, ApiKey::Fetch);
}

void starve_followers(Script& script) {
    script.hold(2, 1, ApiKey::Fetch);
    starve(script, 3);
    script.until_held(2, 1, ApiKey::Fetch);
}

void acks_all_unreplicated(Script& script) {
    starve_followers(script);
    script.send(1);
    script.pass(seconds(1));
}

void acks_one_unreplicated(Script& script) {
    starve_followers(script);
    script.append(1, 1, 1);
    script.pass(seconds(1));
}

void one_follower_of_two(Script& script) {
    starve(script, 3);
    script.send(1);
    script.pass(seconds(1));
}

/// Both followers fall out of the ISR; what waits then has nobody else.
void drop_both(Script& script) {
    starve_followers(script);
    script.append(1, 1, 1);
    script.until("the leader to have dropped both",
                 [&] { return script.replica(1)->committed_isr().size() == 1; });
}

void acks_all_below_min_isr(Script& script) {
    drop_both(script);
    script.offer(1);
    script.pass(seconds(1));
}

void acks_one_below_min_isr(Script& script) {
    drop_both(script);
    script.append(1, 1, 1);
    script.pass(seconds(1));
}

void read_unreplicated(Script& script) {
    starve_followers(script);
    script.append(1, 1, 1);
    script.read(1);
}

/// 2 has a record more than 3 when it is elected.
void elected_with_a_tail(Script& script) {
    script.append(1);
    starve(script, 3);
    script.append(1, 2, 1);
    script.until_end(2, 3);
    script.hold(3, 2, ApiKey::Fetch);
    script.kill(1);
    script.until_leader(2);
    script.read(2);
}

/// 1 wrote what nobody has; 2 leads meanwhile and 3, whose fetches are held, does not have its record.
/// 1 is in the ISR all the time: the election was an operator's.
void tail_counts_as_a_copy(Script& script) {
    script.kill(2);
    script.until_leader(1);
    script.launch(2);
    script.until_isr({1, 2, 3});
    starve_followers(script);
    script.append(1, 1, 1);
    script.hold(3, 2, ApiKey::Fetch);
    script.hold(1, 2, ApiKey::Fetch);
    script.elect_preferred();
    script.until_leader(2);
    script.until_follows(1, 2);
    script.send(2);
    script.release(3, 2);
    script.until_end(3, 1);
    script.pass(milliseconds(10));
    script.release(1, 2);
    script.pass(milliseconds(20));
}

/// 1 is fenced with a produce that waits.
void demoted_with_waiting_produce(Script& script) {
    starve_followers(script);
    script.send(1);
    script.hold(1, kController, ApiKey::BrokerHeartbeat);
    script.until_leader(2);
    script.until_follows(1, 2);
    script.append(2);
    script.pass(seconds(2));
}

// -- truncation, epochs, divergence
// --------------------------------------------------------------------------

/// Committed and acknowledged, but only the leader knows: it dies before its followers hear of it.
void commit_known_to_the_leader(Script& script, Offset end) {
    script.send(1);
    script.until("the record to be committed", [&] { return script.replica(1)->high_watermark() == end; });
    script.cut(1, 2);
    script.cut(1, 3);
    script.kill(1);
}

void one_round_behind(Script& script) {
    script.append(1);
    commit_known_to_the_leader(script, 2);
    script.until_leader(2);
    script.until_follows(3, 2);
    script.pass(seconds(1));
}

/// 1 wrote `lost` records that nobody has, and died; 2 leads and writes `kept`; 1 comes back.
void come_back_with_a_tail(Script& script, int lost, int kept) {
    script.append(1);
    starve_followers(script);
    script.append(1, lost, 1);
    script.kill(1);
    script.until_leader(2);
    script.append(2, kept);
    script.launch(1);
    script.until_follows(1, 2);
    script.pass(seconds(5));
}

void former_leader_keeps_its_tail(Script& script) { come_back_with_a_tail(script, 2, 1); }

void records_over_a_foreign_tail(Script& script) { come_back_with_a_tail(script, 1, 3); }

/// 1 leads an epoch of which 2 has nothing, then 2 one of which 1 has nothing, then 1 again, always elected
/// from the ISR.
void leadership_to_and_fro(Script& script) {
    script.append(2);
    script.kill(2);
    script.until_leader(1);
    script.launch(2);
    script.until_isr({1, 2, 3});
    starve_followers(script);
    script.append(1, 2, 1);
    script.hold(1, 2, ApiKey::Fetch);
    script.hold(3, 2, ApiKey::Fetch);
    script.elect_preferred();
    script.until_leader(2);
    script.append(2, 4, 1);
    script.kill(2);
    script.until_leader(1);
    script.release_all();
    script.launch(2);
    script.until_follows(2, 1);
    script.pass(seconds(5));
}

/// 2 led without writing; then 1 leads again and writes.
void epoch_without_records(Script& script) {
    script.append(1);
    script.kill(1);
    script.until_leader(2);
    script.launch(1);
    script.until_isr({1, 2, 3});
    script.elect_preferred();
    script.until_leader(1);
    script.send(1);
    script.pass(seconds(5));
}

// -- ISR and elections
// ---------------------------------------------------------------------------------------

/// 3 falls out of the ISR.
void drop_third(Script& script) {
    starve(script, 3);
    script.append(1, 1, 1);
    script.until("the leader to have dropped 3",
                 [&] { return script.replica(1)->committed_isr().size() == 2; });
}

void shrink_request_held(Script& script) {
    script.hold(1, kController, ApiKey::AlterPartition);
    starve(script, 3);
    script.send(1);
    script.until_held(1, kController, ApiKey::AlterPartition);
    script.append(1, 1, 1);
    script.pass(seconds(1));
}

/// The controller has taken 3 in, and the leader does not know.
void expand_answer_held(Script& script) {
    drop_third(script);
    // The answer to the shrink must have come: held, nothing more would be asked before its time is over.
    script.pass(seconds(1));
    script.hold(kController, 1, ApiKey::AlterPartition);
    script.hold(kController, 1, ApiKey::Fetch);
    script.release(3, 1);
    script.until_isr({1, 2, 3});
    starve(script, 3);
    script.append(1, 2, 1);
    script.pass(seconds(1));
}

/// The metadata of the shrink comes after its answer, and when 3 is being added again already.
void metadata_after_the_answer(Script& script) {
    starve(script, 3);
    script.append(1, 1, 1);
    // The metadata fetch that waits at the controller by then is answered by the shrink alone.
    script.hold(1, kController, ApiKey::AlterPartition);
    script.until_held(1, kController, ApiKey::AlterPartition);
    script.hold(kController, 1, ApiKey::Fetch);
    script.release(1, kController);
    script.until("the leader to know of the shrink",
                 [&] { return script.replica(1)->committed_isr().size() == 2; });
    script.hold(kController, 1, ApiKey::AlterPartition);
    script.release(3, 1);
    script.until_isr({1, 2, 3});
    starve(script, 3);
    script.until_held(kController, 1, ApiKey::Fetch);
    script.release(kController, 1, ApiKey::Fetch);
    script.append(1, 1, 1);
    script.pass(seconds(1));
}

/// 3 fetches for the first time since it fell out, far behind.
void one_fetch_of_a_laggard(Script& script) {
    drop_third(script);
    script.append(1, 5);
    script.hold(1, 3, ApiKey::Fetch);
    script.release(3, 1);
    script.pass(seconds(1));
}

/// 3 is fenced for a while and has everything up to the high watermark that 2 knows; 2 leads, and does not
/// know yet that what it has beyond is committed.
void join_below_the_epoch_start(Script& script) {
    script.append(1);
    script.pass(seconds(1));
    starve(script, 3);
    script.hold(3, kController, ApiKey::BrokerHeartbeat);
    script.until_isr({1, 2});
    commit_known_to_the_leader(script, 2);
    script.hold(3, 2, ApiKey::Fetch);
    script.release(3, kController);
    script.until_leader(2);
    script.until_follows(3, 2);
    // One fetch of 3 gets through, and no answer.
    script.hold(2, 3, ApiKey::Fetch);
    script.release(3, 2);
    script.pass(seconds(1));
}

/// 1 was fenced for a while without hearing of it, and asks for an ISR without 2, which does not fetch from
/// it any more.
void former_leader_asks(Script& script) {
    script.hold(kController, 1, ApiKey::Fetch);
    script.hold(1, kController, ApiKey::BrokerHeartbeat);
    script.until_leader(2);
    script.release(1, kController);
    script.append(1, 1, 1);
    script.append(2);
    script.pass(seconds(8));
}

/// 3 has caught up and the request to add it is on its way; then 3 loses what it had and comes back.
void former_incarnation_joins(Script& script) {
    drop_third(script);
    script.append(1, 5);
    script.hold(1, kController, ApiKey::AlterPartition);
    script.release(3, 1);
    script.until_held(1, kController, ApiKey::AlterPartition);
    script.lose_power(3);
    script.hold(3, 1, ApiKey::Fetch);
    script.hold(kController, 1, ApiKey::Fetch);
    const auto epoch = [&] { return script.cluster().image()->broker(3)->epoch; };
    const BrokerEpoch before = epoch();
    script.launch(3);
    script.until("a new registration of 3", [&] {
        const node::BrokerImage& broker = *script.cluster().image()->broker(3);
        return broker.epoch != before && !broker.fenced;
    });
    script.release(1, kController);
    script.pass(seconds(1));
}

void only_an_outsider_lives(Script& script) {
    drop_third(script);
    script.kill(1);
    script.until_leader(2);
    script.until_isr({2});
    script.kill(2);
    script.until("nobody else to lead", [&] { return script.cluster().leader({kTopic, 0}) != 2; });
    script.pass(seconds(1));
}

/// 3 has fallen out of the ISR, then 2 with a kill or a loss of power, and is back without being able to
/// fetch: only 1 has all.
void second_back_uncleanly(Script& script, void (Script::*stop)(BrokerId)) {
    drop_third(script);
    script.append(1);
    (script.*stop)(2);
    script.until_isr({1});
    script.hold(2, 1, ApiKey::Fetch);
    const auto epoch = [&] { return script.cluster().image()->broker(2)->epoch; };
    const BrokerEpoch before = epoch();
    script.launch(2);
    script.until("a new registration of 2", [&] { return epoch() != before; });
    script.pass(seconds(1));
}

void eligible_loses_its_log(Script& script) { second_back_uncleanly(script, &Script::lose_power); }

/// 1 is the only one that could lead, dies as well, and comes back: it is not unfenced when it registers.
void last_known_returns(Script& script) {
    second_back_uncleanly(script, &Script::kill);
    script.kill(1);
    script.until("nobody to lead", [&] { return script.cluster().leader({kTopic, 0}) == kNoBroker; });
    script.launch(1);
    script.pass(seconds(5));
}

}  // namespace

const std::vector<BugScript>& bug_scripts() {
    using node::Bug;
    static const std::vector<BugScript> kScripts = {
        {Bug::AckOnAppend, "acks_all_unreplicated", "AckQuorum", acks_all_unreplicated},
        {Bug::HwLeo, "acks_one_unreplicated", "ValidHighWatermark", acks_one_unreplicated},
        {Bug::HwMax, "one_follower_of_two", "ValidHighWatermark", one_follower_of_two},
        {Bug::IgnoreMinIsr, "acks_all_below_min_isr", "VisibleUnderMinIsr", acks_all_below_min_isr, 2},
        {Bug::HwUnderMinIsr, "acks_one_below_min_isr", "VisibleUnderMinIsr", acks_one_below_min_isr, 2},
        {Bug::ServeAboveHw, "read_unreplicated", "FetchAboveHw", read_unreplicated},
        {Bug::HwLeoOnElect, "elected_with_a_tail", "ValidHighWatermark", elected_with_a_tail},
        {Bug::DivergeUpdatesLeo, "tail_counts_as_a_copy", "WeakIsr", tail_counts_as_a_copy, 2, {2, 1, 3}},
        {Bug::PurgKeep, "demoted_with_waiting_produce", "WaitingAtFollower", demoted_with_waiting_produce},
        {Bug::TruncToHw, "one_round_behind", "CandidateCompleteness", one_round_behind},
        {Bug::NoTrunc, "former_leader_keeps_its_tail", "stuck", former_leader_keeps_its_tail},
        {Bug::NoDivergeCheck, "records_over_a_foreign_tail", "LogMatching", records_over_a_foreign_tail},
        {Bug::Kip101Only, "leadership_to_and_fro", "stuck", leadership_to_and_fro, 2, {2, 1, 3}},
        {Bug::EcNoTrunc, "epoch_without_records", "stuck", epoch_without_records},
        {Bug::EagerShrink, "shrink_request_held", "ValidHighWatermark", shrink_request_held},
        {Bug::NoMaximalExpand, "expand_answer_held", "ValidHighWatermark", expand_answer_held},
        {Bug::MdEqualClears, "metadata_after_the_answer", "MaximalIsrSuperset", metadata_after_the_answer},
        {Bug::ExpandNoCheck, "one_fetch_of_a_laggard", "StrongIsr", one_fetch_of_a_laggard},
        {Bug::ExpandNoLess, "join_below_the_epoch_start", "CandidateCompleteness",
         join_below_the_epoch_start},
        {Bug::ApNoValidate, "former_leader_asks", "LeaderInIsr", former_leader_asks},
        {Bug::ApNoBrokerEpoch, "former_incarnation_joins", "UncleanExclusion", former_incarnation_joins},
        {Bug::ElectAny, "only_an_outsider_lives", "LeaderInIsr", only_an_outsider_lives},
        {Bug::ElrKeepUnclean, "eligible_loses_its_log", "UncleanExclusion", eligible_loses_its_log, 2},
        {Bug::LastKnownFenced, "last_known_returns", "FencedLeader", last_known_returns, 2},
    };
    return kScripts;
}

ScriptResult play(const BugScript& script, const node::Bugs& bugs, std::uint64_t seed) {
    ClusterOptions options;
    options.seed = seed;
    options.min_isr = script.min_isr;
    options.assignment = {script.assignment};
    if (script.batch_by_batch) options.fetch_max_bytes = 1;
    options.bugs = bugs;
    Script run(options);
    run.start();
    script.play(run);
    return run.finish();
}

}  // namespace highwater::sim
