// Reads the file of a trace: events in Chrome's format, one per line as the runtime writes them, or any JSON of that kind.
import Foundation

/// An event of a trace, with those members that the runtime writes.
struct TraceEvent: Decodable {
  struct Arguments: Decodable {
    var object, key, observation, observer, observerAddress, note, file, summary, name, path, buildId: String?
    var line: Int?
    var calls: [String]?
    var paused, resumed: Bool?
  }

  var ph: String
  var tid: Int
  var ts: Double
  var name, cat: String?
  var args: Arguments?
}

/// What is wrong with a file.
struct ViewFailure: Error, CustomStringConvertible {
  let description: String
}

struct TraceFile {
  var events: [TraceEvent] = []
  /// The file ends within an event, as after a crash or a full disk.
  var isTruncated = false

  init(_ data: Data, name: String) throws {
    let decoder = JSONDecoder()
    let lines = data.split(separator: UInt8(ascii: "\n"))
    guard lines.count > 1, lines[0].elementsEqual("[".utf8) else {
      events = try Self.whole(data, name: name, decoder)
      return
    }
    for (index, line) in lines.enumerated().dropFirst() {
      // Each line but the last has a comma, and the last one is the end of the list.
      let event = line.last == UInt8(ascii: ",") ? line.dropLast() : line
      if event.elementsEqual("]".utf8) { continue }
      do {
        events.append(try decoder.decode(TraceEvent.self, from: event))
      } catch  where index == lines.count - 1 {
        isTruncated = true
      } catch {
        throw ViewFailure(description: "\(name), line \(index + 1), is no event of a trace: \(Self.reason(error))")
      }
    }
    if lines.last?.elementsEqual("]".utf8) != true { isTruncated = true }
    if events.isEmpty { throw ViewFailure(description: "\(name) is a trace without events") }
  }

  /// Other tools write the list on one line, or as a member of an object.
  private static func whole(_ data: Data, name: String, _ decoder: JSONDecoder) throws -> [TraceEvent] {
    struct Wrapped: Decodable { var traceEvents: [TraceEvent] }
    do {
      if let list = try? decoder.decode([TraceEvent].self, from: data) { return list }
      return try decoder.decode(Wrapped.self, from: data).traceEvents
    } catch {
      throw ViewFailure(description: "\(name) is neither a trace nor a graph: \(reason(error))")
    }
  }

  static func reason(_ error: any Error) -> String {
    switch error as? DecodingError {
    case .dataCorrupted(let context): context.debugDescription
    case .keyNotFound(let key, _): "there is no member \"\(key.stringValue)\""
    case .typeMismatch(_, let context), .valueNotFound(_, let context): context.debugDescription
    default: "\(error)"
    }
  }
}
