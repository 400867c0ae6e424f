// The human-readable summary.
import HostModel

func summaryLines(_ summary: Summary) -> [String] {
  let calibration = summary.calibration
  var lines = [
    summary.interrupted ? "Summary (interrupted)" : "Summary",
    "  samples          \(summary.samples)",
    "  sets             \(summary.sets)",
    "  notifications    \(summary.notifications) delivered",
    "  processes        \(summary.processesAppeared) appeared, \(summary.processesDisappeared) gone",
  ]
  if let bytes = summary.peakUsedBytes, let fraction = summary.peakUsedFraction {
    lines.append("  peak memory      \(size(bytes)) used, \(decimal(fraction * 100, 1)) %")
  }
  if summary.unreadable > 0 { lines.append("  unreadable       \(summary.unreadable), told on stderr") }
  lines.append(
    "  a notification   \(decimal(calibration.nanosecondsPerNotification, 1)) ns with its set; unobserved, a set takes "
      + "\(decimal(calibration.nanosecondsPerUnobservedSet, 1)) ns")
  let build = calibration.isDebugBuild ? "; this is a debug build" : ""
  lines.append(
    "                   (measured now: \(calibration.sets) sets of an Int, one observer of old and new\(build))")
  return lines
}
