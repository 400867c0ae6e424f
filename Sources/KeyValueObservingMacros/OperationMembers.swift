// Foundation's operations: what lets them announce, and lets their queue hear of declared dependencies.
#if Macros
  import SwiftSyntax

  struct OperationMembers {
    let shape: ClassShape

    /// What makes `willChangeValue` and `didChangeValue` reach our observers, for the class that begins a hierarchy.
    ///
    /// Foundation has methods of these names, which would be taken, and would be what fulfils the protocol.
    var announcements: [DeclSyntax] {
      let access = shape.access + (shape.isFinal ? "" : "final ") + "nonisolated"
      return [("willChangeValue", false), ("didChangeValue", true)].flatMap { name, isDone -> [DeclSyntax] in
        [
          """
          \(raw: access) var \(raw: name): KeyValueObserving.KeyValueOperationAnnouncement<\(raw: shape.type)> {
            .init(self, isDone: \(raw: isDone))
          }
          """,
          """
          @_implements(KeyValueObserving.KeyValueObservable, \(raw: name)(forKey:))
          \(raw: access) func __\(raw: name)(forKey key: Swift.String) {
            \(raw: name)(forKey: key)
          }
          """,
        ]
      }
    }

    /// For a class that declares what affects its keys: what hands changes of its states on to its queue.
    var link: [DeclSyntax] {
      guard declaresDependencies, !shape.declaresVariable("isReady") else { return [] }
      let getter: DeclSyntax =
        """
        \(raw: shape.overridableAccess)override var isReady: Swift.Bool {
          _$kvoQueue.connect(self)
          return super.isReady
        }
        """
      return ["private nonisolated let _$kvoQueue = KeyValueObserving.KeyValueOperationLink()", getter]
    }

    private var declaresDependencies: Bool {
      shape.flatMembers.contains {
        let variable = $0.as(VariableDeclSyntax.self)?.bindings.first?.pattern.names.first?.plain
        let name = $0.as(FunctionDeclSyntax.self)?.name.text ?? variable
        return name?.hasPrefix("keyPathsForValuesAffecting") ?? false || name == "keyPathsAffectingValue"
      }
    }
  }
#endif
