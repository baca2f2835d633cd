"""Parts around a matcher: a cache, filters, queue groups, and the interest of other servers."""
