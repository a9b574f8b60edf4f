"""Thirty labelled texts of the kinds that agents and users write. Surfaces occur once in their text, or in order."""

from __future__ import annotations

Entity = tuple[str, str]
Triple = tuple[str, str, str, bool]

LABELLED: tuple[tuple[str, tuple[Entity, ...], tuple[Triple, ...]], ...] = (
    (
        "The ledger service stores its events in Postgres 15.4.",
        (("ledger service", "COMPONENT"), ("Postgres", "TECH"), ("15.4", "VERSION")),
        (),
    ),
    (
        "Ingrid rolled back the catalog worker after it crashed with MemoryError.",
        (("Ingrid", "PERSON"), ("catalog worker", "COMPONENT"), ("MemoryError", "ERROR")),
        (("Ingrid", "ROLLED_BACK", "catalog worker", False), ("catalog worker", "RAISES", "MemoryError", False)),
    ),
    (
        "We migrated the orders database from MySQL to CockroachDB in March 2024.",
        (
            ("orders database", "COMPONENT"),
            ("MySQL", "TECH"),
            ("CockroachDB", "TECH"),
            ("March 2024", "DATE"),
        ),
        (("orders database", "MIGRATED_TO", "CockroachDB", False),),
    ),
    (
        "Setting CELERY_WORKER_CONCURRENCY to 8 fixed the timeouts.",
        (("CELERY_WORKER_CONCURRENCY", "ENV_VAR"), ("8", "QUANTITY"), ("timeouts", "ERROR")),
        (),
    ),
    (
        "Priya Raman leads the data platform team at Vantor Systems.",
        (("Priya Raman", "PERSON"), ("data platform team", "ORG"), ("Vantor Systems", "ORG")),
        (
            ("Priya Raman", "LEADS", "data platform team", False),
            ("Priya Raman", "WORKS_FOR", "Vantor Systems", False),
        ),
    ),
    (
        "The export job no longer uses S3; it writes to Azure.",
        (("export job", "COMPONENT"), ("S3", "TECH"), ("Azure", "TECH")),
        (("export job", "USES", "S3", True), ("export job", "WRITES_TO", "Azure", False)),
    ),
    (
        "I prefer short answers and I dislike Jira.",
        (("Jira", "TECH"),),
        (("I", "PREFERS", "short answers", False), ("I", "PREFERS", "Jira", True)),
    ),
    (
        "INC-204: the notification gateway returned HTTP 503 for 12 minutes.",
        (
            ("INC-204", "TICKET"),
            ("notification gateway", "COMPONENT"),
            ("HTTP 503", "ERROR"),
            ("12 minutes", "QUANTITY"),
        ),
        (("notification gateway", "RETURNS", "HTTP 503", False),),
    ),
    (
        "Mateo merged PR #91 and Hana approved it.",
        (("Mateo", "PERSON"), ("PR #91", "TICKET"), ("Hana", "PERSON")),
        (("Mateo", "MERGED", "PR #91", False), ("Hana", "APPROVED", "PR #91", False)),
    ),
    (
        "billing/charge.py imports stripe_client from lib/payments.py.",
        (("billing/charge.py", "FILE"), ("stripe_client", "CODE"), ("lib/payments.py", "FILE")),
        (("billing/charge.py", "DEPENDS_ON", "stripe_client", False),),
    ),
    (
        "Canary releases work better than big bang deployments for the pricing API.",
        (("Canary releases", "STRATEGY"), ("pricing API", "COMPONENT")),
        (),
    ),
    (
        "The staging cluster was upgraded to Kubernetes 1.30 yesterday.",
        (
            ("staging cluster", "COMPONENT"),
            ("Kubernetes", "TECH"),
            ("1.30", "VERSION"),
            ("yesterday", "DATE"),
        ),
        (),
    ),
    (
        "Set `max_tokens` to 512 when you call https://api.example.org/v1/complete.",
        (
            ("max_tokens", "CODE"),
            ("512", "QUANTITY"),
            ("https://api.example.org/v1/complete", "URL"),
        ),
        (),
    ),
    (
        "Kwame, who works for Orbital Foods, signed the renewal on June 3.",
        (("Kwame", "PERSON"), ("Orbital Foods", "ORG"), ("June 3", "DATE")),
        (("Kwame", "WORKS_FOR", "Orbital Foods", False), ("Kwame", "SIGNED", "renewal", False)),
    ),
    (
        "Redis was replaced by Memcached in the session store.",
        (("Redis", "TECH"), ("Memcached", "TECH"), ("session store", "COMPONENT")),
        (("Memcached", "REPLACES", "Redis", False),),
    ),
    (
        "Our API gateway runs on Envoy, not on Nginx.",
        (("API gateway", "COMPONENT"), ("Envoy", "TECH"), ("Nginx", "TECH")),
        (("API gateway", "DEPLOYED_ON", "Envoy", False),),
    ),
    (
        "p95 latency of the search service dropped from 900 ms to 140 ms.",
        (
            ("p95 latency", "METRIC"),
            ("search service", "COMPONENT"),
            ("900 ms", "QUANTITY"),
            ("140 ms", "QUANTITY"),
        ),
        (),
    ),
    (
        "My name is Leila. I live in Casablanca and I work at Sahel Bank.",
        (("Leila", "PERSON"), ("Casablanca", "LOCATION"), ("Sahel Bank", "ORG")),
        (("Leila", "LIVES_IN", "Casablanca", False), ("Leila", "WORKS_FOR", "Sahel Bank", False)),
    ),
    (
        "The mobile app crashes with NullPointerException on Android 14.",
        (
            ("mobile app", "COMPONENT"),
            ("NullPointerException", "ERROR"),
            ("Android", "TECH"),
            ("14", "VERSION"),
        ),
        (("mobile app", "RAISES", "NullPointerException", False),),
    ),
    (
        "Retrying with exponential backoff did not help the invoice importer.",
        (("exponential backoff", "STRATEGY"), ("invoice importer", "COMPONENT")),
        (),
    ),
    (
        "Oskar didn't review the Terraform plan, but Noor did.",
        (("Oskar", "PERSON"), ("Terraform", "TECH"), ("Noor", "PERSON")),
        (("Oskar", "REVIEWED", "Terraform plan", True), ("Noor", "REVIEWED", "Terraform plan", False)),
    ),
    (
        "FastAPI requires Pydantic; the inventory service depends on both.",
        (("FastAPI", "TECH"), ("Pydantic", "TECH"), ("inventory service", "COMPONENT")),
        (("FastAPI", "DEPENDS_ON", "Pydantic", False),),
    ),
    (
        "On 2025-02-11 the security team disabled the legacy login endpoint.",
        (("2025-02-11", "DATE"), ("security team", "ORG"), ("legacy login endpoint", "COMPONENT")),
        (("security team", "DISABLED", "legacy login endpoint", False),),
    ),
    (
        "User prefers dark mode and TypeScript over JavaScript.",
        (("TypeScript", "TECH"), ("JavaScript", "TECH")),
        (("User", "PREFERS", "TypeScript", False), ("User", "PREFERS", "JavaScript", True)),
    ),
    (
        "The memory leak in image-proxy was caused by ImageMagick.",
        (("memory leak", "ERROR"), ("image-proxy", "COMPONENT"), ("ImageMagick", "TECH")),
        (("ImageMagick", "CAUSES", "memory leak", False),),
    ),
    (
        "Deploys on Friday are forbidden since INC-118.",
        (("Friday", "DATE"), ("INC-118", "TICKET")),
        (),
    ),
    (
        "Dr. Anselm Weber of Helios Labs wrote the tokenizer module in Rust.",
        (
            ("Anselm Weber", "PERSON"),
            ("Helios Labs", "ORG"),
            ("tokenizer module", "COMPONENT"),
            ("Rust", "TECH"),
        ),
        (
            ("Anselm Weber", "WORKS_FOR", "Helios Labs", False),
            ("Anselm Weber", "WROTE", "tokenizer module", False),
        ),
    ),
    (
        "The webhook handler calls Stripe and retries three times on ConnectionError.",
        (
            ("webhook handler", "COMPONENT"),
            ("Stripe", "ORG"),
            ("three times", "QUANTITY"),
            ("ConnectionError", "ERROR"),
        ),
        (
            ("webhook handler", "CALLS", "Stripe", False),
            ("webhook handler", "RETRIES", "ConnectionError", False),
        ),
    ),
    (
        "Never run migrations/0042_drop_users.sql on production without a backup.",
        (("migrations/0042_drop_users.sql", "FILE"), ("production", "LOCATION")),
        (),
    ),
    (
        "Project Juniper moves the fraud detector to Flink in Q3 2025.",
        (
            ("Project Juniper", "PROJECT"),
            ("fraud detector", "COMPONENT"),
            ("Flink", "TECH"),
            ("Q3 2025", "DATE"),
        ),
        (("fraud detector", "MIGRATED_TO", "Flink", False),),
    ),
)
