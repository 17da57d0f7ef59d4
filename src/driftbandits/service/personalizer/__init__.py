"""The protocol of Azure AI Personalizer, retired in autumn 2026, for clients that still speak it.

A client whose endpoint is `http://host:8080/loops/NAME` finds a loop of this service there. Every generation of public clients works: the
paths `/loops/NAME/personalizer/…?api-version=…`, `/loops/NAME/personalizer/v1.0/…` and `/loops/NAME/personalizer/v1.1-preview.3/…` are the
same. docs/migrating.md has a table of all operations.

===============  =====================================================================
`wire`           requests as clients send them
`features`       lists of nested dictionaries → one flat dictionary
`durations`      ISO 8601
`events`         rank, reward and activate, for one slot and for several
`configuration`  the service configuration ↔ the settings of a loop
`apprentice`     how often the loop would have done what the application did
`jobs`           evaluations and feature importances, in the background
`router`         the paths
===============  =====================================================================
"""
