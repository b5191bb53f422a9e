"""What the reader can paste while the proxy stays up."""

from .engine import MODEL


def hints(url: str, admin_url: str) -> list[str]:
    """Lines with the addresses of this run: curl, the OpenAI client for Python, metrics."""
    return [
        "With curl:",
        "",
        f"  curl {url}/v1/chat/completions -H 'Content-Type: application/json' \\",
        f'    -d \'{{"model": "{MODEL}", "messages": [{{"role": "user", "content": "Hello"}}]}}\'',
        "",
        "With the OpenAI client for Python (pip install openai):",
        "",
        "  from openai import OpenAI",
        f'  client = OpenAI(base_url="{url}/v1", api_key="none-needed-here")',
        "  stream = client.chat.completions.create(",
        f'      model="{MODEL}", stream=True,',
        '      messages=[{"role": "user", "content": "Give me a secret."}])',
        '  print("".join(c.choices[0].delta.content or "" for c in stream if c.choices))',
        "",
        f"Metrics: {admin_url}/metrics   Ready: {admin_url}/readyz",
        "Stop with Ctrl-C.",
    ]
