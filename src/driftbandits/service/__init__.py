"""`driftbandits serve`: decisions over HTTP for many loops; a *loop* is one named `Bandit`, kept in a store.

==================  ==========================================================================================
`config`            what the command was started with, and the limits of requests
`keys`              who may call: hashes of keys, roles
`gate`              what every request passes: request id, key, rate, size of the body, log line, metrics
`catalogue`         which loops there are, their settings, and how to open one; `file_catalogue`, `postgres_catalogue`
`loop`, `loops`     one open loop; those open in this process
`requested`         decisions and rewards of requests, made with the bandit of a loop
`models`, `routes`  requests and answers of the own protocol, and its paths
`problems`          errors as answers: `{"error": {"code", "message"}}`
`metrics`           `/metrics`
`app`, `server`     the application; the processes that run it
`client`            `driftbandits.Client`, which needs nothing but the standard library
==================  ==========================================================================================

`import driftbandits` imports none of this.
"""
