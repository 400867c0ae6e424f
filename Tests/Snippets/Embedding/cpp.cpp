// snippet: C++
