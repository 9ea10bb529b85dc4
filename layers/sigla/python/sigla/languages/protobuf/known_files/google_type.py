"""The files under google/type/ (contract D.2.1): what they declare."""

from typing import Final

FILES: Final = {
    "google/type/calendar_period.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "CalendarPeriodProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/calendarperiod;calendarperiod";
option objc_class_prefix = "GTP";
enum CalendarPeriod {
  CALENDAR_PERIOD_UNSPECIFIED = 0;
  DAY = 1;
  WEEK = 2;
  FORTNIGHT = 3;
  MONTH = 4;
  QUARTER = 5;
  HALF = 6;
  YEAR = 7;
}
""",
    "google/type/color.proto": """syntax = "proto3";
package google.type;
import "google/protobuf/wrappers.proto";
option java_package = "com.google.type";
option java_outer_classname = "ColorProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/color;color";
option objc_class_prefix = "GTP";
message Color { float red = 1; float green = 2; float blue = 3; google.protobuf.FloatValue alpha = 4; }
""",
    "google/type/date.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "DateProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/date;date";
option objc_class_prefix = "GTP";
message Date { int32 year = 1; int32 month = 2; int32 day = 3; }
""",
    "google/type/datetime.proto": """syntax = "proto3";
package google.type;
import "google/protobuf/duration.proto";
option java_package = "com.google.type";
option java_outer_classname = "DateTimeProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/datetime;datetime";
option objc_class_prefix = "GTP";
message DateTime {
  int32 year = 1;
  int32 month = 2;
  int32 day = 3;
  int32 hours = 4;
  int32 minutes = 5;
  int32 seconds = 6;
  int32 nanos = 7;
  oneof time_offset { google.protobuf.Duration utc_offset = 8; TimeZone time_zone = 9; }
}
message TimeZone { string id = 1; string version = 2; }
""",
    "google/type/dayofweek.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "DayOfWeekProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/dayofweek;dayofweek";
option objc_class_prefix = "GTP";
enum DayOfWeek {
  DAY_OF_WEEK_UNSPECIFIED = 0;
  MONDAY = 1;
  TUESDAY = 2;
  WEDNESDAY = 3;
  THURSDAY = 4;
  FRIDAY = 5;
  SATURDAY = 6;
  SUNDAY = 7;
}
""",
    "google/type/decimal.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "DecimalProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/decimal;decimal";
option objc_class_prefix = "GTP";
message Decimal { string value = 1; }
""",
    "google/type/expr.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "ExprProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/expr;expr";
option objc_class_prefix = "GTP";
message Expr { string expression = 1; string title = 2; string description = 3; string location = 4; }
""",
    "google/type/fraction.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "FractionProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/fraction;fraction";
option objc_class_prefix = "GTP";
message Fraction { int64 numerator = 1; int64 denominator = 2; }
""",
    "google/type/interval.proto": """syntax = "proto3";
package google.type;
import "google/protobuf/timestamp.proto";
option java_package = "com.google.type";
option java_outer_classname = "IntervalProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/interval;interval";
option objc_class_prefix = "GTP";
message Interval { google.protobuf.Timestamp start_time = 1; google.protobuf.Timestamp end_time = 2; }
""",
    "google/type/latlng.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "LatLngProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/latlng;latlng";
option objc_class_prefix = "GTP";
message LatLng { double latitude = 1; double longitude = 2; }
""",
    "google/type/money.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "MoneyProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/money;money";
option objc_class_prefix = "GTP";
message Money { string currency_code = 1; int64 units = 2; int32 nanos = 3; }
""",
    "google/type/month.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "MonthProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/month;month";
option objc_class_prefix = "GTP";
enum Month {
  MONTH_UNSPECIFIED = 0;
  JANUARY = 1;
  FEBRUARY = 2;
  MARCH = 3;
  APRIL = 4;
  MAY = 5;
  JUNE = 6;
  JULY = 7;
  AUGUST = 8;
  SEPTEMBER = 9;
  OCTOBER = 10;
  NOVEMBER = 11;
  DECEMBER = 12;
}
""",
    "google/type/phone_number.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "PhoneNumberProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/phone_number;phone_number";
option objc_class_prefix = "GTP";
message PhoneNumber {
  oneof kind { string e164_number = 1; PhoneNumber.ShortCode short_code = 2; }
  string extension = 3;
  message ShortCode { string region_code = 1; string number = 2; }
}
""",
    "google/type/postal_address.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "PostalAddressProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/postaladdress;postaladdress";
option objc_class_prefix = "GTP";
message PostalAddress {
  int32 revision = 1;
  string region_code = 2;
  string language_code = 3;
  string postal_code = 4;
  string sorting_code = 5;
  string administrative_area = 6;
  string locality = 7;
  string sublocality = 8;
  repeated string address_lines = 9;
  repeated string recipients = 10;
  string organization = 11;
}
""",
    "google/type/quaternion.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "QuaternionProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/quaternion;quaternion";
option objc_class_prefix = "GTP";
message Quaternion { double x = 1; double y = 2; double z = 3; double w = 4; }
""",
    "google/type/timeofday.proto": """syntax = "proto3";
package google.type;
option java_package = "com.google.type";
option java_outer_classname = "TimeOfDayProto";
option java_multiple_files = true;
option go_package = "google.golang.org/genproto/googleapis/type/timeofday;timeofday";
option objc_class_prefix = "GTP";
message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }
""",
}
