// Where an unmodified Apache Kafka is on this machine, and how its JVMs are started: `scripts/dev kafka
// VERSION` puts the jars into a cache outside the tree; a distribution that the user has works too.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace highwater::harness {

/// What "--sut kafka" means without a version; scripts/kafka.sh has the same.
inline constexpr const char* kDefaultKafka = "4.3.1";

struct KafkaVersion {
    int major = 0;
    int minor = 0;
    std::string text;

    [[nodiscard]] bool at_least(int wanted_major, int wanted_minor) const {
        return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
    }
    /// "4.3.1". Error: it does not begin with two numbers.
    static Result<KafkaVersion> parse(const std::string& text);
};

struct KafkaDistribution {
    KafkaVersion version;
    /// A JDK's `java`, 17 or later.
    std::string java;
    /// Sorted, whole paths.
    std::vector<std::string> jars;
    /// Of classes, bound to this JVM and these jars; "": there is none. A JVM that cannot use it starts
    /// without.
    std::string class_archive;
    /// Formatted data directories of a controller and a broker of a cluster with default features; "": none.
    std::string format_template;

    /// `what` is a version, or the path of a distribution (it has a '/'). Errors: it is not here, with the
    /// command that fetches it; no JDK.
    static Result<KafkaDistribution> find(const std::string& what);

    [[nodiscard]] std::string class_path() const;
    /// Rule profile of its brokers, for the checker: kafka-2.x, kafka-3.7+ or kafka-4.x (docs/run-format.md).
    [[nodiscard]] const char* profile() const;
    /// A new cluster of it keeps eligible leader replicas (KIP-966) unless told otherwise.
    [[nodiscard]] bool elr_by_default() const { return version.at_least(4, 1); }
};

/// JAVA_HOME's java, else the one in PATH; "": none.
std::string find_java();

}  // namespace highwater::harness
