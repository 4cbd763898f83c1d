// The database's tables, views and migrations. docs/schema.md explains the
// views, which are the public face; tables may change with each version.
#ifndef KERNELFLEET_SERVER_STORE_SCHEMA_H_
#define KERNELFLEET_SERVER_STORE_SCHEMA_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "server/store/database.h"

namespace kernelfleet::server {

// The schema this program writes: the number of migrations.
int SchemaVersion();

// Brings the database forward, each step in a transaction of its own.
// FAILED_PRECONDITION: a newer program wrote it; nothing was touched.
absl::Status Migrate(Database& db);

// The documented views, and the tables that Query() must not name.
std::span<const std::string_view> PublicViews();
std::span<const std::string_view> PrivateTables();

}  // namespace kernelfleet::server

#endif  // KERNELFLEET_SERVER_STORE_SCHEMA_H_
