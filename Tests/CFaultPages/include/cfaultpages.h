/* cfaultpages.h - the examples in C of Documentation/Faults, as functions that the tests of the pages call. */
#ifndef CFAULTPAGES_H
#define CFAULTPAGES_H

/* Each page's wrong program, and its right one. */
void page_KVO0005_example(void);
void page_KVO0005_remedy(void);
void page_KVO0007_example(void);
void page_KVO0007_remedy(void);
void page_KVO0008_example(void);
void page_KVO0008_remedy(void);
void page_KVO0012_example(void);
void page_KVO0012_remedy(void);
void page_KVO0020_remedy(void);
void page_KVO0021_example(void);
void page_KVO0021_remedy(void);
void page_KVO0025_example(void);
void page_KVO0025_remedy(void);

#endif
