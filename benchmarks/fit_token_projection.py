"""Fits the projection of token vectors that ships in `alma_graph/embedding/token_projection.npz`.

    python -m benchmarks.fit_token_projection [TARGET]

Principal components of the unit hidden states of all-MiniLM-L6-v2, over content tokens of text that anybody may use:
the docstrings of Python's standard library, and sentences about software work and everyday life that this script makes
from its own templates. No evaluation set is read. Deterministic for one version of Python and of the model.
"""

from __future__ import annotations

import ast
import random
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from alma_graph.embedding.minilm import MiniLmEmbedder
from alma_graph.embedding.token_vectors import PROJECTION_FILE, TOKEN_DIMENSION, TokenProjection, unit_rows

SEED = 11
DOCSTRING_COUNT = 1500
SENTENCE_COUNT = 3500
LONGEST_PARAGRAPH = 600


def options(text: str, separator: str = ",") -> list[str]:
    """The alternatives that a template chooses from."""
    return text.split(separator)


PEOPLE = options(
    "Anna,Ben,Carla,David,Elena,Farid,Grace,Hugo,Ines,Jonas,Kemal,Lucia,Marta,Nadia,Oscar,Priya,Quentin,Rosa,Sven,"
    "Tara,Umar,Vera,Will,Xenia,Yusuf,Zoe,my sister,my brother,my aunt,our neighbour,my best friend,my manager,"
    "a colleague,the coach,her daughter,his son,our grandmother,the teacher,the landlord,a nurse"
)
PLACES = options(
    "Lisbon,Chicago,Kyoto,Nairobi,Oslo,Montreal,Seville,Denver,Prague,the lake,the mountains,the old town,the coast,"
    "the library,the community centre,the gym,the hospital,the bakery,a small village,the national park,the museum,"
    "the train station,the farmers market,the new office,the campground,the art studio,the animal shelter,the beach"
)
TIMES = options(
    "last weekend,yesterday,two weeks ago,in March,last summer,this morning,on Tuesday,next month,back in 2019,"
    "a few years ago,for ten years now,every Sunday,after work,before sunrise,on her birthday,during the holidays,"
    "last night,the other day,when I was nine,at the end of May,in early autumn,since Friday"
)
ACTIVITIES = options(
    "painted a sunset,baked sourdough bread,adopted a puppy,ran a half marathon,signed up for a pottery class,"
    "played the violin at a concert,planted tomatoes in the garden,went camping with the kids,started a new job,"
    "moved into a bigger flat,broke an ankle while skiing,learned to swim,read a novel about the war,"
    "volunteered at a food bank,gave a talk about mental health,opened a bakery,bought a second-hand bicycle,"
    "watched a documentary on whales,wrote a poem,joined a support group,took the dog for a hike,"
    "won the chess tournament,finished a degree in counselling,cooked dinner for twelve people,repaired an old car,"
    "lost a wallet on the bus,sold the guitar,saw a meteor shower,got engaged,tried yoga for back pain,"
    "organised a charity auction,built a treehouse,quit smoking,met a famous writer,caught the flu"
)
FEELINGS = options(
    "It was exhausting but worth it,I felt so proud,that made everyone laugh,it still scares me a little,"
    "the view took my breath away,I had never been happier,it helped with the stress,we were all disappointed,"
    "it reminds me of home,I would do it again,nobody expected that,it means a lot to our family,"
    "the food was amazing,it cost more than we had planned,the weather could have been better"
)
QUESTIONS = options(
    "What did {person} do in {place}?|When did {person} last visit {place}?|How long has {person} lived near {place}?|"
    "Who went to {place} {time}?|Why was {person} upset {time}?|Which pet does {person} have?|"
    "What kind of music does {person} like?|Where did {person} grow up?|How many children does {person} have?|"
    "What is {person}'s favourite book?|What advice did {person} give {time}?|Did {person} enjoy {place}?",
    separator="|",
)
COMPONENTS = options(
    "the payment service,the checkout API,the search index,Redis,PostgreSQL,the message queue,Kafka,the load balancer,"
    "the login page,the mobile app,the nightly backup,the data warehouse,the CI pipeline,the Docker image,nginx,"
    "the feature flag,the webhook,the scheduler,the Kubernetes cluster,the recommendation model,the rate limiter,"
    "the billing report,the cache,the email worker,the GraphQL gateway,the migration script,the staging database"
)
PROBLEMS = options(
    "timed out after thirty seconds,ran out of memory,returned a 502 error,dropped connections under load,"
    "leaked file handles,failed the type check,raised a KeyError,locked the whole table,served stale results,"
    "rejected valid tokens,lost messages on restart,doubled the latency,wrote duplicate rows,ignored the time zone,"
    "crashed on empty input,could not parse the date,exceeded the quota,refused the certificate,deadlocked twice"
)
STRATEGIES = options(
    "retry with exponential backoff,roll back to the previous release,add an index on the customer column,"
    "run the tests in parallel,split the request into batches of one hundred,warm the cache before the deploy,"
    "validate the schema first,turn off the feature flag,increase the connection pool,pin the dependency version,"
    "search for the exact error message,ask the user for the booking number,use a read replica,write a smaller query,"
    "compress the payload,restart the worker,take a backup before migrating,deploy to one region first,"
    "cancel and rebook the flight,check the refund policy,log the full response,look inside the drawer first,"
    "heat the bread and put it on the table,compare prices in three shops,read the file in chunks"
)
OUTCOMES = options(
    "It worked on the first attempt,this failed again,the error went away,latency fell from 900 to 120 milliseconds,"
    "the build is green now,customers stopped complaining,nothing changed,two of five runs succeeded,"
    "the deployment took twelve minutes,memory use dropped by half,we had to revert it,the team prefers this"
)
FACTS = options(
    "{component} listens on port {number}|{component} stores at most {number} entries|"
    "the limit of {component} is {number} requests per minute|{person} owns {component}|"
    "{component} was replaced by {other} {time}|{component} depends on {other}|"
    "never deploy {component} on a Friday|{component} must not be restarted before {other}|"
    "{person} prefers short answers and dark mode|the office in {place} opens at {number} past eight|"
    "version {number} of {component} supports {other}",
    separator="|",
)


def everyday_and_work_sentences(count: int) -> Iterator[str]:
    """`count` texts, about half from daily life and half from software work, always the same ones."""
    chooser = random.Random(SEED)
    for _ in range(count):
        names = {
            "person": chooser.choice(PEOPLE),
            "place": chooser.choice(PLACES),
            "time": chooser.choice(TIMES),
            "component": chooser.choice(COMPONENTS),
            "other": chooser.choice(COMPONENTS),
            "number": chooser.randint(2, 9000),
        }
        shape = chooser.randrange(6)
        if shape == 0:
            yield f"{names['person']} {chooser.choice(ACTIVITIES)} in {names['place']} {names['time']}."
        elif shape == 1:
            activity, feeling = chooser.choice(ACTIVITIES), chooser.choice(FEELINGS)
            yield f"{chooser.choice(PEOPLE)}: I {activity} {names['time']}, {feeling}! {chooser.choice(FEELINGS)}."
        elif shape == 2:
            yield chooser.choice(QUESTIONS).format(**names)
        elif shape == 3:
            yield f"{names['component']} {chooser.choice(PROBLEMS)} {names['time']}, so we decided to " + (
                f"{chooser.choice(STRATEGIES)}. {chooser.choice(OUTCOMES)}."
            )
        elif shape == 4:
            problem, strategy = chooser.choice(PROBLEMS), chooser.choice(STRATEGIES)
            yield f"When {names['component']} {problem}, {strategy}. {chooser.choice(OUTCOMES)}."
        else:
            yield chooser.choice(FACTS).format(**names) + "."


def standard_library_paragraphs(count: int) -> list[str]:
    """`count` paragraphs of docstrings, spread evenly over Python's own modules."""
    library = Path(sysconfig.get_paths()["stdlib"])
    skipped = {"test", "idlelib", "lib2to3", "site-packages", "turtledemo", "__pycache__"}
    paragraphs: list[str] = []
    for source in sorted(library.rglob("*.py")):
        if skipped & set(source.relative_to(library).parts):
            continue
        tree = ast.parse(source.read_text(encoding="utf-8", errors="replace"))
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                text = ast.get_docstring(node) or ""
                paragraphs += [" ".join(part.split())[:LONGEST_PARAGRAPH] for part in text.split("\n\n")]
    long_enough = list(dict.fromkeys(part for part in paragraphs if len(part) > 40))
    places = np.linspace(0, len(long_enough) - 1, count).astype(int)
    return [long_enough[place] for place in places]


def fit(texts: list[str]) -> tuple[TokenProjection, float]:
    """The projection, and the share of the variance that it keeps."""
    states = unit_rows(np.concatenate(MiniLmEmbedder().hidden_states(texts)))
    mean = states.mean(axis=0, dtype=np.float64)
    variances, directions = np.linalg.eigh(np.cov((states - mean).T.astype(np.float64)))
    strongest = directions[:, ::-1][:, :TOKEN_DIMENSION]
    # Eigenvectors have no sign of their own; the largest entry of each is made positive.
    signs = np.sign(strongest[np.abs(strongest).argmax(axis=0), np.arange(TOKEN_DIMENSION)])
    kept = float(variances[::-1][:TOKEN_DIMENSION].sum() / variances.sum())
    print(f"{len(states)} token vectors of {len(texts)} texts; {TOKEN_DIMENSION} components keep {kept:.3f}")
    return TokenProjection(mean.astype(np.float32), (strongest * signs).astype(np.float32)), kept


def main() -> None:
    default = Path(__file__).parents[1] / "alma_graph" / "embedding" / PROJECTION_FILE
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    texts = [*standard_library_paragraphs(DOCSTRING_COUNT), *everyday_and_work_sentences(SENTENCE_COUNT)]
    projection, _kept = fit(texts)
    np.savez(target, mean=projection.mean, components=projection.components.astype(np.float16))
    print(f"wrote {target.name}, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
