/* A C program with Tercet inside: cc host.c $(pkg-config --cflags --libs tercet) */
#include <stdio.h>
#include <tercet/tercet.h>

static int fail(tct_error* error) {
  fputs(tct_error_render(error).data, stderr);
  tct_error_release(error);
  return 1;
}

int main(void) {
  tct_engine* engine;
  tct_session* session;
  tct_error* error = NULL;
  tct_value *texts, *counts;
  const tct_str words[] = {TCT_STR("a rose is a rose"), TCT_STR("to be or not to be")};
  const int64_t shape[] = {2};
  if (tct_engine_create(NULL, &engine, &error) || tct_session_create(engine, NULL, &session, &error)) return fail(error);
  if (tct_array_texts(1, shape, words, &texts, &error) || tct_set(session, TCT_STR("docs"), texts, &error)) return fail(error);
  if (tct_eval(session, TCT_STR("docs |> tokenize |> lengths"), TCT_STR("host.c"), &counts, &error)) return fail(error);
  printf("%s %s\n", tct_value_type(counts).data, tct_value_text(counts).data);
  tct_value_release(counts);
  tct_value_release(texts);
  tct_session_release(session);
  tct_engine_release(engine);
  return 0;
}
