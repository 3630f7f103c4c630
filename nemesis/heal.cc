#include "nemesis/heal.h"

#include <algorithm>

#include "nemesis/address_plan.h"

namespace highwater::nemesis {
namespace {

constexpr Duration kProbePause = milliseconds(20);

/// The connections whose bytes travel on these paths.
std::vector<PathProof> connections_of(const Grudge& paths) {
    std::vector<std::pair<BrokerId, BrokerId>> links;
    for (const auto& [source, destination] : paths) {
        if (AddressPlan::link_port(source, destination) != 0) links.emplace_back(source, destination);
        if (AddressPlan::link_port(destination, source) != 0) links.emplace_back(destination, source);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    std::vector<PathProof> proofs;
    for (const auto& [source, destination] : links) {
        PathProof proof;
        proof.source = source;
        proof.destination = destination;
        proofs.push_back(proof);
    }
    return proofs;
}

void probe_until_answered(const Network& network, PathProof& proof, const ProofOptions& options) {
    const Instant deadline = monotonic_now() + options.patience;
    while (true) {
        const Status probed = network.probe(proof.source, proof.destination, deadline);
        proof.ok = probed.has_value();
        proof.detail = probed ? "a probe was answered" : probed.error().message;
        const Instant again = monotonic_now() + kProbePause;
        if (probed || again >= deadline || options.interrupted()) return;
        while (monotonic_now() < again) options.wait(again);
    }
}

}  // namespace

std::vector<PathProof> prove_healed(const Network& network, const Grudge& paths,
                                    const ProofOptions& options) {
    std::vector<PathProof> proofs = connections_of(paths);
    const Instant deadline = monotonic_now() + options.patience;
    while (true) {
        bool waits = false;
        for (PathProof& proof : proofs) {
            if (proof.ok) continue;
            if (network.round_trip_since(proof.source, proof.destination, options.healed)) {
                proof.ok = true;
                proof.by_traffic = true;
                proof.detail = "a round trip of its own";
            } else if (network.connections(proof.source, proof.destination) > 0) {
                waits = true;
            }
        }
        const Instant now = monotonic_now();
        if (!waits || now >= deadline || options.interrupted()) break;
        options.wait(std::min(deadline, now + kProbePause));
    }
    for (PathProof& proof : proofs) {
        if (!proof.ok) probe_until_answered(network, proof, options);
    }
    return proofs;
}

}  // namespace highwater::nemesis
