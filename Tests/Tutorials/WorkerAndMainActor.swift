// The program of the tutorial WorkerAndMainActor, with all its steps: Tests/Tutorials/README.md says how they are marked.
// from 5
import Dispatch
// end
import KeyValueObserving

@KeyValueObservable
final class Download: @unchecked Sendable {  // only the worker uses its storage
  var percent = 0
}

actor Worker {
  func run(_ download: Download) {
    for percent in 1...100 { download.percent = percent }
  }
}
// from 2

@MainActor
final class DownloadView {
  // from 2 until 3
  var label = ""
  // from 3
  var label = "" { didSet { shown.append(label) } }
  var shown: [String] = []
  // from 2

  func show(_ download: Download) {
    download.onChange(of: \.percent, for: self) { me, _, percent in me.label = "\(percent) %" }
  }
}
// end
// from 5

final class Log: Sendable {
  let queue = DispatchQueue(label: "log")

  func follow(_ download: Download) {
    download.source(\.percent).delivered(on: queue).coalesced().onChange(for: self) { log, old, new in
      print("log: \(new) %")
    }
  }
}
// end

let download = Download()
let worker = Worker()
// until 2
await worker.run(download)
print(download.percent)  // prints: 100
// from 2
let view = DownloadView()
view.show(download)
// from 5
let log = Log()
log.follow(download)
log.queue.suspend()  // the log is slow
// from 2 until 4
await worker.run(download)
while view.label != "100 %" { await Task.yield() }
// from 4
let values = download.values(of: \.percent)
Task { await worker.run(download) }
for await percent in values where percent == 100 { break }
while view.label != "100 %" { await Task.yield() }
// from 2
print(view.label)  // prints: 100 %
// from 3
print(view.shown.count, view.shown[0], view.shown[99])  // prints: 100 1 % 100 %
// from 5
log.queue.resume()
log.queue.sync {}  // prints: log: 100 %
