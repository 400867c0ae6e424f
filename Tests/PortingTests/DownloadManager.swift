// A ported program: a download manager with progress, dependent keys, an array, and values set by key.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  enum DownloadState: Int { case waiting, running, finished, failed }

  @KeyValueObservable
  class Transfer: KeyValueObject {
    let url: String
    var title: String
    var bytesReceived: Int64 = 0
    var bytesExpected: Int64 = 0
    var state = DownloadState.waiting
    var error: NSError?
    var priority = 0.5
    @NotObserved private var lastSpeed = 0.0

    init(url: String) {
      self.url = url
      title = url
    }

    // Derived
    var fraction: Double { bytesExpected > 0 ? Double(bytesReceived) / Double(bytesExpected) : 0 }
    class func keyPathsForValuesAffectingFraction() -> Set<String> { ["bytesReceived", "bytesExpected"] }

    var statusText: String {
      switch state {
      case .waiting: "Waiting"
      case .running: "\(Int(fraction * 100)) %"
      case .finished: "Done"
      case .failed: error?.domain ?? "Failed"
      }
    }
    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
      var paths = super.keyPathsForValuesAffectingValue(forKey: key)
      if key == "statusText" { paths.formUnion(["state", "fraction", "error"]) }
      return paths
    }

    // Notified by hand, when it changed by a tenth
    var speed: Double {
      get { lastSpeed }
      set {
        guard abs(newValue - lastSpeed) > 0.1 * lastSpeed else {
          lastSpeed = newValue
          return
        }
        willChangeValue(forKey: "speed")
        lastSpeed = newValue
        didChangeValue(forKey: "speed")
      }
    }
    override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
      key == "speed" ? false : super.automaticallyNotifiesObservers(forKey: key)
    }

    override func setNilValueForKey(_ key: String) {
      if key == "priority" { priority = 0.5 } else { super.setNilValueForKey(key) }
    }
    // The server sends more than we know.
    override func setValue(_ value: Any?, forUndefinedKey key: String) {}
  }

  nonisolated(unsafe) private let stateContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
  nonisolated(unsafe) private let fractionContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

  @KeyValueObservable
  class DownloadManager: KeyValueObject, @unchecked Sendable {
    private(set) var downloads: [Transfer] = []
    private(set) var totalFraction = 0.0
    private(set) var runningCount = 0
    private var mutableDownloads: KeyValueMutableArray<Transfer> { mutableArrayValue(for: \.downloads) }

    deinit { downloads.forEach(stopObserving) }

    func add(_ records: [[String: Any]]) {
      for record in records {
        let download = Transfer(url: record["url"] as? String ?? "")
        download.setValuesForKeys(record)
        startObserving(download)
        mutableDownloads.append(download)
      }
    }

    func remove(_ download: Transfer) {
      stopObserving(download)
      mutableDownloads.remove(download)
      update()
    }

    private func startObserving(_ download: Transfer) {
      download.addObserver(self, forKeyPath: "state", options: [.initial, .old, .new], context: stateContext)
      download.addObserver(self, forKeyPath: "fraction", options: [], context: fractionContext)
    }

    private func stopObserving(_ download: Transfer) {
      download.removeObserver(self, forKeyPath: "state", context: stateContext)
      download.removeObserver(self, forKeyPath: "fraction", context: fractionContext)
    }

    override func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      switch context {
      case stateContext:
        let new = change?[.newKey] as? DownloadState
        let old = change?[.oldKey] as? DownloadState
        if old != new { update() }
      case fractionContext:
        update()
      default:
        super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      }
    }

    private func update() {
      totalFraction = (value(forKeyPath: "downloads.@avg.fraction") as? Double) ?? 0
      runningCount = downloads.filter { $0.state == .running }.count
    }
  }

  final class DownloadsViewController: @unchecked Sendable {
    private(set) var rows: [String] = []
    private(set) var title = ""
    private var tokens: [NSKeyValueObservation] = []
    private var rowTokens: [Transfer: NSKeyValueObservation] = [:]

    init(_ manager: DownloadManager) {
      tokens.append(
        manager.observe(\.downloads, options: [.initial, .old, .new]) { [unowned self] manager, change in
          switch change.kind {
          case .insertion:
            for (index, download) in zip(change.indexes!, change.newValue!) {
              rows.insert(download.statusText, at: index)
              watch(download, in: manager)
            }
          case .removal:
            for index in change.indexes!.reversed() { rows.remove(at: index) }
            for download in change.oldValue! { rowTokens[download] = nil }
          default:
            rows = manager.downloads.map(\.statusText)
          }
        })
      tokens.append(
        manager.observe(\.totalFraction, options: [.initial, .new]) { [unowned self] _, change in
          title = "\(Int(change.newValue! * 100)) % of all"
        })
    }

    private func watch(_ download: Transfer, in manager: DownloadManager) {
      rowTokens[download] = download.observe(\.statusText, options: [.new]) {
        [unowned self, unowned manager] download, change in
        if let row = manager.downloads.firstIndex(of: download) { rows[row] = change.newValue! }
      }
    }
  }

  @Suite("A ported program: a download manager")
  struct DownloadManagerTests {
    let manager = DownloadManager()

    private func fill() -> [Transfer] {
      manager.add([
        ["url": "a", "title": "A", "bytesExpected": 200, "priority": NSNull(), "etag": "unknown"],
        ["url": "b", "bytesExpected": "100", "priority": 0.9],
      ])
      return manager.downloads
    }

    @Test func `Records fill the downloads, with conversions, nil and undefined keys`() {
      let downloads = fill()
      #expect(downloads.map(\.title) == ["A", "b"])
      #expect(downloads.map(\.bytesExpected) == [200, 100])
      #expect(downloads.map(\.priority) == [0.5, 0.9])
    }

    @Test func `Progress of a download notifies the manager, which notifies the view`() {
      let controller = DownloadsViewController(manager)
      let downloads = fill()
      #expect(controller.rows == ["Waiting", "Waiting"])
      downloads[0].state = .running
      downloads[0].bytesReceived = 100
      #expect(manager.runningCount == 1 && manager.totalFraction == 0.25)
      #expect(controller.title == "25 % of all" && controller.rows == ["50 %", "Waiting"])
      downloads[1].error = NSError(domain: "Offline", code: 1)
      downloads[1].state = .failed
      #expect(controller.rows == ["50 %", "Offline"])
      manager.remove(downloads[0])
      #expect(controller.rows == ["Offline"] && controller.title == "0 % of all")
      #expect(manager.runningCount == 0)
      downloads[0].bytesReceived = 200
      #expect(controller.title == "0 % of all")
      #expect(downloads[0].observationInfo == nil)
    }

    @Test func `Small changes of the speed do not notify`() {
      let download = fill()[0]
      nonisolated(unsafe) var speeds: [Double] = []
      let token = download.observe(\.speed, options: [.new]) { _, change in speeds.append(change.newValue!) }
      for speed in [10, 10.5, 12, 11.9] { download.speed = speed }
      #expect(speeds == [10, 12])
      token.invalidate()
    }

    @Test func `The deallocation of the view and of the manager removes their observations`() {
      var downloads: [Transfer] = []
      do {
        let manager = DownloadManager()
        do { _ = DownloadsViewController(manager) }
        #expect(manager.observationInfo == nil)
        manager.add([["url": "x"]])
        downloads = manager.downloads
        #expect(downloads[0].observationInfo != nil)
      }
      #expect(downloads[0].observationInfo == nil)
    }
  }
#endif
