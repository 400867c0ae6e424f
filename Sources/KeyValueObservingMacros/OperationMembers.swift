// Members for Foundation's operations: manual notification, and notification of the queue for declared dependencies.
#if Macros
  import SwiftSyntax

  struct OperationMembers {
    let shape: ClassShape

    /// The properties with which `willChangeValue` and `didChangeValue` notify our observers, for the root class of a hierarchy.
    ///
    /// Without them, Foundation's methods of these names would be called and would satisfy the protocol's requirements.
    var announcements: [DeclSyntax] {
      let access = shape.access + (shape.isFinal ? "" : "final ") + "nonisolated"
      return [("willChangeValue", false), ("didChangeValue", true)].flatMap { name, isDone -> [DeclSyntax] in
        [
          """
          \(raw: access) var \(raw: name): KeyValueObserving._KeyValueOperationAnnouncement<\(raw: shape.type)> {
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

    /// The members that notify the queue of state changes, for a class that declares dependent keys.
    var link: [DeclSyntax] {
      guard declaresDependencies, !shape.declaresVariable("isReady") else { return [] }
      let getter: DeclSyntax =
        """
        \(raw: shape.overridableAccess)override var isReady: Swift.Bool {
          _$kvoQueue.connect(self)
          return super.isReady
        }
        """
      return ["private nonisolated let _$kvoQueue = KeyValueObserving._KeyValueOperationLink()", getter]
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
