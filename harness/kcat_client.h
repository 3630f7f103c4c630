// kcat as a client: a program of somebody else, one process for each append, understood by what it reports of
// the record and never by how it ends. Reads are our own client's. docs/clients.md.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "workloads/client.h"
#include "workloads/socket.h"

namespace highwater::harness {

struct KcatClientOptions {
    std::string client_id;
    std::string topic;
    std::string run_id;
    /// DIRECT addresses: kcat resolves names by the machine's own rules, so it cannot be led through relays.
    std::map<BrokerId, workloads::SocketAddress> brokers;
    /// Holds the record that is under way and what kcat said of it; made if it is not there.
    std::string directory;
    /// `request.timeout.ms`, what the broker waits for its followers.
    Duration request_timeout = milliseconds(3000);
    /// `message.timeout.ms`: all that becomes of one append.
    Duration delivery_timeout = seconds(30);
    /// Does the reading.
    std::unique_ptr<workloads::Client> reader;
};

/// Writes what this machine's kcat calls itself to `file`. Errors: there is none, or it does not run.
Status ask_for_kcat(const std::string& file);

/// An append ends as kcat's report on its record says: a broker's error, or the library's, by the table of
/// outcomes; without a report nobody knows. Fails to have been sent only if no kcat could be started.
std::unique_ptr<workloads::Client> make_kcat_client(KcatClientOptions options);

/// What kcat -vv printed of its one record; nullopt: nothing, whatever else it printed.
std::optional<workloads::ProduceReply> kcat_report(const std::string& output, std::int16_t acks);

}  // namespace highwater::harness
