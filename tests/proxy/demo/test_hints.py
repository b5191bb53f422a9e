from tidegate.proxy.demo.hints import hints


def test_the_hints_carry_the_addresses_of_this_run() -> None:
    text = "\n".join(hints("http://127.0.0.1:1234", "http://127.0.0.1:5678"))

    assert "curl http://127.0.0.1:1234/v1/chat/completions" in text
    assert 'OpenAI(base_url="http://127.0.0.1:1234/v1"' in text
    assert "http://127.0.0.1:5678/metrics" in text


def test_the_python_of_the_hints_compiles() -> None:
    lines = hints("http://u", "http://a")
    first = next(i for i, line in enumerate(lines) if "from openai" in line)
    code = "\n".join(line[2:] for line in lines[first : lines.index("", first)])

    compile(code, "hints", "exec")
