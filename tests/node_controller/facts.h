// What a controller decided and knows, as lines of a transcript.
#pragma once

#include <string>

#include "node/controller/events.h"
#include "node/controller/metadata_image.h"
#include "node/log/partition_log.h"

namespace highwater::node {

std::string list_text(const std::vector<BrokerId>& ids);
std::string duration_text(Duration duration);
std::string event_text(const ControllerEvent& event);
std::string image_text(const MetadataImage& image);
/// One line for each record from `from` on: offset, epoch, name, version, the fields that matter. `-` starts
/// a batch.
std::string records_text(const PartitionLog& log, Offset from, const MetadataImage& names);

}  // namespace highwater::node
