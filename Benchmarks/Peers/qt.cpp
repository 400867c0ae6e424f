// qt.cpp - the peer Qt 6: an object whose setters store and emit a signal, connected directly to lambdas; and QProperty.
#include "serving.h"

#include <QObject>
#include <QProperty>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

class Subject : public QObject {
  Q_OBJECT
  Q_PROPERTY(int number READ number WRITE setNumber NOTIFY numberChanged)
  Q_PROPERTY(int level READ level WRITE setLevel NOTIFY levelChanged)

public:
  int number() const { return m_number; }
  int level() const { return m_level; }

  Q_NEVER_INLINE void setNumber(int value) {
    m_number = value;
    emit numberChanged(value);
  }

  Q_NEVER_INLINE void setLevel(int value) {
    const int old = m_level;
    m_level = value;
    emit levelChanged(old, value);
  }

signals:
  void numberChanged(int value);
  void levelChanged(int old, int value);

private:
  int m_number = 0;
  int m_level = 0;
};

// ------------------------------------------------------------------------------------------------------------ Signals

static std::unique_ptr<Subject> subject;

// Without a context object the connection is direct.
static QMetaObject::Connection connectTo(Subject *sender) {
  return QObject::connect(sender, &Subject::numberChanged, [](int value) { sum += value; });
}

template <int observers> static void makeSubject() {
  subject = std::make_unique<Subject>();
  for (int i = 0; i < observers; i++) connectTo(subject.get());
}

static void makeLevel() {
  makeSubject<0>();
  QObject::connect(subject.get(), &Subject::levelChanged, [](int old, int value) { sum += old + value; });
}

static void setNumbers(long count) {
  for (long i = 0; i < count; i++) subject->setNumber(int(i));
}

static void setLevels(long count) {
  for (long i = 0; i < count; i++) subject->setLevel(int(i));
}

static void connectAndDisconnect(long count) {
  for (long i = 0; i < count; i++) QObject::disconnect(connectTo(subject.get()));
}

static std::vector<std::unique_ptr<Subject>> fresh;

static void prepareFresh(long count) {
  fresh.clear();
  for (long i = 0; i < count; i++) fresh.push_back(std::make_unique<Subject>());
}

static void connectFresh(long count) {
  for (long i = 0; i < count; i++) connectTo(fresh[size_t(i)].get());
}

// Many objects, each with a connection, in random order. They are not destroyed, because the end of this program would then take
// processor time from the next row.
static std::vector<Subject *> population;
static size_t position;

template <size_t objects> static void makePopulation() {
  for (size_t i = 0; i < objects; i++) {
    population.push_back(new Subject);
    connectTo(population.back());
  }
  std::vector<void *> order(population.begin(), population.end());
  shuffle(order.data(), objects);
  for (size_t i = 0; i < objects; i++) population[i] = static_cast<Subject *>(order[i]);
}

// Continues where the turn before ended.
static void walk(long count) {
  for (long i = 0; i < count; i++) {
    population[position]->setNumber(int(i));
    if (++position == population.size()) position = 0;
  }
}

// ---------------------------------------------------------------------------------------------------------- QProperty

struct Model {
  QProperty<int> number = QProperty<int>(0);
  QProperty<int> factor = QProperty<int>(2);
  QProperty<Model *> head = QProperty<Model *>(nullptr);
  QProperty<int> derived = QProperty<int>(0);

  auto observe() {
    return number.onValueChanged([this] { sum += number.value(); });
  }
  auto observeDerived() {
    return derived.onValueChanged([this] { sum += derived.value(); });
  }
};

using Handler = decltype(std::declval<Model>().observe());
using DerivedHandler = decltype(std::declval<Model>().observeDerived());

// In this order, so that handlers are destroyed before the properties that they observe.
static std::unique_ptr<Model> model, leaf, otherLeaf;
static const size_t side = 9;
static std::unique_ptr<Model> grid[side][side];
static const size_t links = 100;
static std::unique_ptr<Model> chained[links + 1];
static std::vector<Handler> handlers;
static std::unique_ptr<DerivedHandler> derivedHandler;

Q_NEVER_INLINE static void setNumber(Model *object, int value) { object->number = value; }
Q_NEVER_INLINE static void setHead(Model *object, Model *value) { object->head = value; }

template <int observers> static void makeModel() {
  handlers.clear();
  derivedHandler.reset();
  model = std::make_unique<Model>();
  for (int i = 0; i < observers; i++) handlers.push_back(model->observe());
}

static void makeDependent() {
  makeModel<0>();
  Model *self = model.get();
  self->derived.setBinding([self] { return self->number.value() * self->factor.value(); });
  derivedHandler = std::make_unique<DerivedHandler>(self->observeDerived());
}

static void makeBound() {
  makeModel<0>();
  Model *self = model.get();
  self->derived.setBinding([self] { return self->number.value(); });
  derivedHandler = std::make_unique<DerivedHandler>(self->observeDerived());
}

static void makeBoundToThree() {
  makeModel<0>();
  leaf = std::make_unique<Model>();
  otherLeaf = std::make_unique<Model>();
  Model *self = model.get(), *second = leaf.get(), *third = otherLeaf.get();
  self->derived.setBinding([=] { return self->number.value() + second->number.value() + third->number.value(); });
  derivedHandler = std::make_unique<DerivedHandler>(self->observeDerived());
}

static void makeNested() {
  makeModel<0>();
  leaf = std::make_unique<Model>();
  otherLeaf = std::make_unique<Model>();
  otherLeaf->number = 1;
  Model *self = model.get();
  self->head = leaf.get();
  self->derived.setBinding([self] { return self->head.value()->number.value(); });
  derivedHandler = std::make_unique<DerivedHandler>(self->observeDerived());
}

static int add(int one, int other) { return int(unsigned(one) + unsigned(other)); }

// Each cell is the one to the left and the one above; the last one is observed.
static void makeGrid() {
  makeModel<0>();
  for (size_t row = 0; row < side; row++)
    for (size_t column = 0; column < side; column++) {
      auto &cell = grid[row][column] = std::make_unique<Model>();
      Model *up = row > 0 ? grid[row - 1][column].get() : nullptr;
      Model *left = column > 0 ? grid[row][column - 1].get() : nullptr;
      if (up && left)
        cell->number.setBinding([=] { return add(left->number.value(), up->number.value()); });
      else if (Model *only = up ? up : left)
        cell->number.setBinding([=] { return only->number.value(); });
    }
  handlers.push_back(grid[side - 1][side - 1]->observe());
}

static void setCorner(long count) {
  for (long i = 0; i < count; i++) setNumber(grid[0][0].get(), int(i));
}

// Each number is that of the model before; the last one is observed.
static void makeChain() {
  makeModel<0>();
  for (size_t i = 0; i <= links; i++) {
    chained[i] = std::make_unique<Model>();
    if (i == 0) continue;
    Model *source = chained[i - 1].get();
    chained[i]->number.setBinding([source] { return source->number.value(); });
  }
  handlers.push_back(chained[links]->observe());
}

static void setChain(long count) {
  static unsigned value;
  for (long i = 0; i < std::max(1L, count / long(links)); i++) setNumber(chained[0].get(), int(++value));
}

static void setProperty(long count) {
  for (long i = 0; i < count; i++) setNumber(model.get(), int(i));
}

static void setLeaf(long count) {
  for (long i = 0; i < count; i++) setNumber(leaf.get(), int(i));
}

static void replaceHead(long count) {
  Model *heads[] = {leaf.get(), otherLeaf.get()};
  for (long i = 0; i < count; i++) setHead(model.get(), heads[i & 1]);
}

static void observeAndEnd(long count) {
  for (long i = 0; i < count; i++) {
    Handler handler = model->observe();
  }
}

// ---------------------------------------------------------------------------------------------------------------- Rows

int main() {
  static const row rows[] = {
      {"set-unobserved", makeSubject<0>, nullptr, setNumbers, false},
      {"set-1", makeSubject<1>, nullptr, setNumbers, true},
      {"set-2", makeSubject<2>, nullptr, setNumbers, true},
      {"set-5", makeSubject<5>, nullptr, setNumbers, true},
      {"set-10", makeSubject<10>, nullptr, setNumbers, true},
      {"set-20", makeSubject<20>, nullptr, setNumbers, true},
      {"set-50", makeSubject<50>, nullptr, setNumbers, true},
      {"set-100", makeSubject<100>, nullptr, setNumbers, true},
      {"set-old-new", makeLevel, nullptr, setLevels, true},
      {"observe", makeSubject<0>, nullptr, connectAndDisconnect, false},
      {"observe-observed", makeSubject<1>, nullptr, connectAndDisconnect, false},
      {"first", makeSubject<0>, prepareFresh, connectFresh, false},
      {"walk-1000", makePopulation<1000>, nullptr, walk, true},
      {"walk-10000", makePopulation<10000>, nullptr, walk, true},
      {"walk-100000", makePopulation<100000>, nullptr, walk, true},
      {"walk-1000000", makePopulation<1000000>, nullptr, walk, true},
      {"property-set-unobserved", makeModel<0>, nullptr, setProperty, false},
      {"property-set-1", makeModel<1>, nullptr, setProperty, true},
      {"property-set-2", makeModel<2>, nullptr, setProperty, true},
      {"property-set-5", makeModel<5>, nullptr, setProperty, true},
      {"property-set-10", makeModel<10>, nullptr, setProperty, true},
      {"property-set-20", makeModel<20>, nullptr, setProperty, true},
      {"property-set-50", makeModel<50>, nullptr, setProperty, true},
      {"property-set-100", makeModel<100>, nullptr, setProperty, true},
      {"property-dependent", makeDependent, nullptr, setProperty, true},
      {"property-bound", makeBound, nullptr, setProperty, true},
      {"property-bound-3", makeBoundToThree, nullptr, setProperty, true},
      {"property-grid", makeGrid, nullptr, setCorner, true},
      {"property-chain", makeChain, nullptr, setChain, true},
      {"property-leaf", makeNested, nullptr, setLeaf, true},
      {"property-head", makeNested, nullptr, replaceHead, true},
      {"property-observe", makeModel<0>, nullptr, observeAndEnd, false},
  };
  return serve(rows, std::size(rows));
}

#include "qt.moc"
