#!/usr/bin/env python3
"""A third-party model server for the tests: the one of llama.cpp (package xllamacpp), with a generated model of 2 MB.

The model produces random text with control characters. If the `logit_bias` of a request prefers the token CALLS, it
calls the tool `bash_exec`, and answers the outcome with a sentence. Everything else is real: streaming, parsing of
calls, token counts, errors, cancellation, and prompts that exceed the context.

    tiny.py FOLDER [--port 8099] [--context 16384] [--seconds 600]

A virtual environment (about 210 MB, once) and the model are stored in FOLDER and reused by later runs.
"""

import argparse
import os
import subprocess
import sys
import time

PACKAGES = ["xllamacpp", "gguf", "numpy"]

# Chat template, from which the server also derives the syntax of calls. A prompt that ends with an outcome gets a special
# token at its end, because the model sees the last token only.
TEMPLATE = """{%- if tools %}{{- '<|im_start|>system\\n# Tools\\n<tools>' }}{%- for t in tools %}{{- '\\n' }}{{- t.function.name }}{%- endfor %}{{- '\\n</tools>\\nCall them like this:\\n<tool_call>\\n{"name": <name>, "arguments": <object>}\\n</tool_call><|im_end|>\\n' }}{%- endif %}
{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' }}{%- if m.content %}{{- m.content }}{%- endif %}
{%- for c in m.tool_calls or [] %}{{- '\\n<tool_call>\\n{"name": "' + c.function.name + '", "arguments": ' }}{{- c.function.arguments | tojson }}{{- '}\\n</tool_call>' }}{%- endfor %}{{- '<|im_end|>\\n' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- if messages[-1].role == 'tool' %}{{- '<|outcome|>' }}{%- endif %}{%- endif %}"""

# Tokens after those of the 256 bytes. The model produces the tokens of a chain in order.
CONTROL = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|outcome|>"]
CALL = ['<tool_call>\n{"name": "', "bash_exec", '", "arguments": {"command": "', "touch t; echo from-the-server", '"}}\n</tool_call>']
ANSWER = ["The command ", "was told ", "to me."]
# Random characters in addition to ASCII: wide ones, and some that control terminals.
UNUSUAL = ["\u6f22", "\u044f", "\U0001f980", "\u202e", "\u200d", "\u2028"]
END, OUTCOME = 257, 259
CALLS = 256 + len(CONTROL)  # 260, which the tests use


# The byte alphabet of GPT-2: every byte is a token, starting with the printable ones.
PRINTABLE = [*range(33, 127), *range(161, 173), *range(174, 256)]
BYTES = PRINTABLE + [byte for byte in range(256) if byte not in PRINTABLE]
CHARACTERS = [chr(byte) for byte in PRINTABLE] + [chr(256 + at) for at in range(256 - len(PRINTABLE))]


def make_model(path, context):
    import gguf
    import numpy as np

    tokens = CHARACTERS + CONTROL + CALL + ANSWER + UNUSUAL
    width, layers, heads, feed = 320, 1, 4, 64
    w = gguf.GGUFWriter(path, "llama")
    w.add_name("tiny")
    w.add_context_length(context)
    w.add_embedding_length(width)
    w.add_block_count(layers)
    w.add_feed_forward_length(feed)
    w.add_head_count(heads)
    w.add_head_count_kv(heads)
    w.add_layer_norm_rms_eps(1e-5)
    w.add_rope_dimension_count(width // heads)
    w.add_file_type(0)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(tokens)
    w.add_token_types([1] * 256 + [3] * len(CONTROL) + [4] * len(CALL + ANSWER + UNUSUAL))
    w.add_token_merges(["a b"])
    w.add_eos_token_id(END)
    w.add_bos_token_id(258)
    w.add_pad_token_id(258)
    w.add_add_bos_token(False)
    w.add_chat_template(TEMPLATE)
    random = np.random.default_rng(7)

    # Every token has its own dimension and the layers add nothing, so the next token depends on the last one only.
    embedding = np.zeros((len(tokens), width), np.float32)
    embedding[np.arange(len(tokens)), np.arange(len(tokens))] = 1
    output = (random.standard_normal((len(tokens), width)) * 0.05).astype(np.float32)
    # Random text never ends, never becomes a call, and is valid UTF-8.
    random_text = np.array([byte < 128 for byte in BYTES] + [False] * (len(tokens) - 256))
    random_text[-len(UNUSUAL) :] = True
    output[~random_text] = -10
    answer = CALLS + len(CALL)
    chains = [[*range(CALLS, answer), END], [OUTCOME, *range(answer, answer + len(ANSWER)), END]]
    for chain in chains:
        for last, following in zip(chain, chain[1:]):
            output[following, last] = 100
    ones = np.ones(width, np.float32)
    w.add_tensor("token_embd.weight", embedding)
    w.add_tensor("output_norm.weight", ones)
    w.add_tensor("output.weight", output)
    for i in range(layers):
        for name in ("attn_norm", "ffn_norm"):
            w.add_tensor(f"blk.{i}.{name}.weight", ones)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            w.add_tensor(f"blk.{i}.{name}.weight", np.zeros((width, width), np.float32))
        for name in ("ffn_gate", "ffn_up"):
            w.add_tensor(f"blk.{i}.{name}.weight", np.zeros((feed, width), np.float32))
        w.add_tensor(f"blk.{i}.ffn_down.weight", np.zeros((width, feed), np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


def in_environment(folder):
    """Restarts in the virtual environment of the folder, which is created if necessary."""
    python = os.path.join(folder, "venv", "bin", "python")
    if os.environ.get("TINY_SERVER") == python:
        return
    ready = os.path.join(folder, "ready")
    if not os.path.exists(ready):
        subprocess.check_call([sys.executable, "-m", "venv", "--clear", os.path.join(folder, "venv")])
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
        open(ready, "w").close()
    os.execve(python, [python, *sys.argv], dict(os.environ, TINY_SERVER=python))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=os.path.abspath)
    arguments.add_argument("--port", type=int, default=8099)
    arguments.add_argument("--context", type=int, default=16384)
    arguments.add_argument("--seconds", type=int, default=600)
    options = arguments.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    in_environment(options.folder)
    import xllamacpp

    model = os.path.join(options.folder, f"tiny-{options.context}.gguf")
    made = f"{model}.{os.getpid()}"
    make_model(made, options.context)
    os.replace(made, model)
    p = xllamacpp.CommonParams()
    p.model.path, p.hostnames, p.port = model, ["127.0.0.1"], options.port
    # Two parallel sessions, each with half of the context. One thread, because several would block each other on a busy
    # machine.
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
    p.n_ctx, p.n_parallel, p.use_jinja, p.warmup = options.context, 2, True, False
    server = xllamacpp.Server(p)
    print("listening on", server.listening_address, flush=True)
    time.sleep(options.seconds)


main()
