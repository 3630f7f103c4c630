# The dependency table of docs/architecture.md as targets. A room is a folder; it may use what it lists, nothing else.
# tests/tidy checks the same table against the #include lines.

# hw_room(<folder> [USES <target>...]): the library hw_<folder> of all .cc files directly in that folder.
function(hw_room folder)
  cmake_parse_arguments(arg "" "" "USES;SUBFOLDERS" ${ARGN})
  string(REPLACE "/" "_" name "hw_${folder}")
  set(patterns ${folder}/*.cc)
  foreach(sub IN LISTS arg_SUBFOLDERS)
    list(APPEND patterns ${folder}/${sub}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_include_directories(${name} SYSTEM PUBLIC ${EXPECTED_INCLUDE})
  target_link_libraries(${name} PUBLIC ${arg_USES} PRIVATE hw_warnings)
endfunction()

hw_room(base USES fmt::fmt ${ISAL_LIBRARY})
hw_room(model USES hw_base tomlplusplus::tomlplusplus simdjson::simdjson)
hw_room(wire SUBFOLDERS messages USES hw_base)

hw_room(node/log USES hw_base hw_wire)
hw_room(node/replica USES hw_node_log hw_wire hw_base)
hw_room(node/controller USES hw_node_log hw_wire hw_base)
hw_room(node/group USES hw_wire hw_base)
hw_room(node/server USES hw_node_controller hw_node_replica hw_node_group hw_node_log hw_wire hw_base)
hw_room(node/trace USES hw_node_server hw_node_replica hw_node_controller hw_base)
hw_room(node/broker USES hw_node_trace hw_node_server hw_asio spdlog::spdlog)
add_executable(highwater-node node/broker/main.cc)
target_link_libraries(highwater-node PRIVATE hw_node_broker hw_warnings)

hw_room(nemesis USES hw_model hw_wire hw_base hw_asio)
hw_room(workloads USES hw_model hw_wire hw_base hw_asio PkgConfig::RDKAFKA)
hw_room(checker USES hw_model hw_base)
hw_room(results USES hw_model hw_base)
# The page of report.html, written as HTML, CSS and JavaScript.
set(HW_PAGE ${CMAKE_SOURCE_DIR}/results/report_page)
set(HW_PAGE_FILES kReportHtml=${HW_PAGE}/report.html kReportCss=${HW_PAGE}/report.css
  kReportDataJs=${HW_PAGE}/data.js kReportLanesJs=${HW_PAGE}/lanes.js kReportPageJs=${HW_PAGE}/page.js)
string(REGEX REPLACE "[A-Za-z]+=" "" HW_PAGE_PATHS "${HW_PAGE_FILES}")
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/report_page.cc
  COMMAND ${CMAKE_COMMAND} -DNAMESPACE=highwater::results -DOUT=${CMAKE_BINARY_DIR}/report_page.cc
    "-DFILES=${HW_PAGE_FILES}" -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${HW_PAGE_PATHS} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
target_sources(hw_results PRIVATE ${CMAKE_BINARY_DIR}/report_page.cc)
hw_room(harness SUBFOLDERS commands kafka USES hw_checker hw_results hw_nemesis hw_workloads hw_model hw_node_log hw_wire hw_base
  hw_asio spdlog::spdlog)
add_executable(highwater harness/main.cc)
target_link_libraries(highwater PRIVATE hw_harness hw_warnings)
target_include_directories(highwater SYSTEM PRIVATE ${CLI11_INCLUDE})
# The harness finds its node and its scenarios beside itself.
add_dependencies(highwater highwater-node)
file(GLOB HW_SCENARIOS CONFIGURE_DEPENDS harness/scenarios/*.toml)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/scenarios.stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${CMAKE_BINARY_DIR}/bin/scenarios
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bin/scenarios
  COMMAND ${CMAKE_COMMAND} -E copy ${HW_SCENARIOS} ${CMAKE_BINARY_DIR}/bin/scenarios
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/scenarios.stamp
  DEPENDS ${HW_SCENARIOS} VERBATIM)
add_custom_target(highwater-scenarios DEPENDS ${CMAKE_BINARY_DIR}/scenarios.stamp)
add_dependencies(highwater highwater-scenarios)
