// A ported program: view controllers, superclass and subclass, that observe the same document, each with its own context.
//
// On Apple's platforms `BaseViewController` derives from UIViewController, which `ViewController` below replaces.
#if Macros
  import Foundation
  import KeyValueObserving
  import Testing

  /// Replaces UIViewController. The classes below differ from the original only in what the guide describes.
  class ViewController: KeyValueObject {
    func viewWillAppear() {}
    func viewWillDisappear() {}
  }

  @KeyValueObservable
  final class Report {
    var title = "Untitled"
    var isLocked = false
    var progress = 0.0
  }

  nonisolated(unsafe) private let baseContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
  nonisolated(unsafe) private let detailContext = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)

  class BaseViewController: ViewController {
    let report: Report
    private(set) var windowTitle = ""

    init(report: Report) { self.report = report }

    override func viewWillAppear() {
      super.viewWillAppear()
      report.addObserver(self, forKeyPath: "title", options: [.initial, .new], context: baseContext)
    }

    override func viewWillDisappear() {
      report.removeObserver(self, forKeyPath: "title", context: baseContext)
      super.viewWillDisappear()
    }

    override func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      guard context == baseContext else {
        super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
        return
      }
      windowTitle = change?[.newKey] as? String ?? ""
    }
  }

  final class DetailViewController: BaseViewController {
    private(set) var header = ""
    private(set) var isEditable = true
    private(set) var progressSteps: [Double] = []

    override func viewWillAppear() {
      super.viewWillAppear()
      report.addObserver(self, forKeyPath: "title", options: [.new], context: detailContext)
      report.addObserver(self, forKeyPath: "isLocked", options: [.initial, .new], context: detailContext)
      report.addObserver(self, forKeyPath: "progress", options: [.old, .new], context: detailContext)
    }

    override func viewWillDisappear() {
      report.removeObserver(self, forKeyPath: "progress", context: detailContext)
      report.removeObserver(self, forKeyPath: "isLocked", context: detailContext)
      report.removeObserver(self, forKeyPath: "title", context: detailContext)
      super.viewWillDisappear()
    }

    override func observeValue(
      forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
      context: UnsafeMutableRawPointer?
    ) {
      guard context == detailContext else {
        super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
        return
      }
      switch keyPath {
      case "title":
        header = "Report: \(change?[.newKey] as? String ?? "-")"
      case "isLocked":
        isEditable = !(change?[.newKey] as? Bool ?? false)
      case "progress":
        if let old = change?[.oldKey] as? Double, let new = change?[.newKey] as? Double, new > old {
          progressSteps.append(new)
        }
      default:
        break
      }
    }
  }

  @Suite("A ported program: view controllers with contexts")
  struct ViewControllerTests {
    let report = Report()

    @Test func `Superclass and subclass each handle their own observation of one key`() {
      let controller = DetailViewController(report: report)
      controller.viewWillAppear()
      #expect(controller.windowTitle == "Untitled" && controller.isEditable)
      report.title = "Quarter"
      report.isLocked = true
      #expect(controller.windowTitle == "Quarter")
      #expect(controller.header == "Report: Quarter")
      #expect(!controller.isEditable)
      controller.viewWillDisappear()
      #expect(report.observationInfo == nil)
    }

    @Test func `Between disappearing and reappearing no notification is delivered`() {
      let controller = DetailViewController(report: report)
      controller.viewWillAppear()
      report.progress = 0.5
      controller.viewWillDisappear()
      (report.title, report.progress) = ("Unseen", 0.6)
      #expect(controller.windowTitle == "Untitled")
      controller.viewWillAppear()
      report.progress = 0.4
      report.progress = 1
      #expect(controller.windowTitle == "Unseen" && controller.progressSteps == [0.5, 1])
      controller.viewWillDisappear()
    }
  }
#endif
